/** An error as it should be met: what happened, to which package, what to do, and the code to search for. */
import { useSignal } from '@preact/signals';
import type { Failure } from '../failure.js';

export function FailureCard({ failure, title }: { failure: Failure; title: string }) {
  const label = useSignal('Copy details');
  const copy = async () => {
    const { code, message, hint } = failure;
    const text = [`${code}: ${message}`, failure.package && `package: ${failure.package}`, hint && `hint: ${hint}`];
    try {
      await navigator.clipboard.writeText(text.filter(Boolean).join('\n'));
      label.value = 'Copied';
    } catch {
      label.value = 'The browser refused to copy';
    }
    setTimeout(() => {
      label.value = 'Copy details';
    }, 1500);
  };
  return (
    <div class="failure" role="alert" data-testid="failure" data-code={failure.code}>
      <h3>{title}</h3>
      <p class="failure-message">{failure.message}</p>
      {failure.hint && <p class="failure-hint">{failure.hint}</p>}
      <footer>
        {failure.package && <code class="failure-package">{failure.package}</code>}
        <code>{failure.code}</code>
        <button type="button" class="link" onClick={() => void copy()}>
          {label.value}
        </button>
      </footer>
    </div>
  );
}
