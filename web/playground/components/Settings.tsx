/** Where packages come from, and what they take up. */
import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { formatBytes, plural } from '../format.js';
import { registry, token } from '../open-store.js';
import { clearStore, configure, installation, running, usage } from '../session.js';
import { CloseIcon } from './icons.js';

export function SettingsDialog({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }) {
  const confirming = useSignal(false);
  const problem = useSignal('');
  const busy = running.value;
  const stored = usage.value;

  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const address = String(form.get('registry')).trim();
    if (address && originOf(address) === undefined) {
      problem.value = 'This is not an address. Give one that begins with https:// or http://, or a path of this site.';
      return;
    }
    problem.value = '';
    dialog.current?.close();
    void configure({ registry: address, token: String(form.get('token')).trim() });
  };

  /** A token is one registry's: it does not go along to another. */
  const emptyToken = ({ currentTarget }: InputEvent & { currentTarget: HTMLInputElement }) => {
    const address = currentTarget.value.trim() || __DEFAULT_REGISTRY__;
    const field = currentTarget.form?.elements.namedItem('token') as HTMLInputElement;
    if (field.value === token.value && originOf(address) !== originOf(registry.value)) field.value = '';
  };

  return (
    <dialog
      ref={dialog}
      class="settings"
      aria-labelledby="settings-title"
      onClose={() => {
        confirming.value = false;
      }}
      closedby="any"
    >
      <div class="settings-body">
        <header>
          <h2 id="settings-title">Settings</h2>
          <button type="button" class="quiet square" aria-label="Close" onClick={() => dialog.current?.close()}>
            <CloseIcon />
          </button>
        </header>
        <form onSubmit={save}>
          <label>
            <span>Registry</span>
            <input
              name="registry"
              type="text"
              inputMode="url"
              spellcheck={false}
              autocomplete="off"
              key={registry.value}
              defaultValue={registry.value}
              placeholder={__DEFAULT_REGISTRY__}
              aria-describedby="registry-help"
              onInput={emptyToken}
            />
          </label>
          <p id="registry-help" class="help">
            It must allow requests from this page (CORS). Leave it empty for the default.
          </p>
          <label>
            <span>Token</span>
            <input name="token" type="password" autocomplete="off" defaultValue={token.value} />
          </label>
          <p class="help">Sent to this registry only, and forgotten with its address or when the page is closed.</p>
          {problem.value && (
            <p class="field-error" role="alert">
              {problem.value}
            </p>
          )}
          <button type="submit" disabled={busy}>
            Save
          </button>
        </form>
        <section>
          <h3>Storage</h3>
          {stored && stored.packages > 0 ? (
            <>
              <p>
                {plural(stored.packages, 'package')} with {plural(stored.files, 'file')}, shared by all projects of this
                page: <strong>{formatBytes(stored.bytes)}</strong>.
              </p>
              <Granted usage={stored.usage} quota={stored.quota} />
            </>
          ) : (
            <p class="help">Nothing is stored yet.</p>
          )}
          <Clearing />
          {confirming.value ? (
            <fieldset class="confirm">
              <legend class="visually-hidden">Remove everything?</legend>
              <span>Every installed project goes with it.</span>
              <button
                type="button"
                class="danger"
                disabled={busy}
                onClick={() => {
                  confirming.value = false;
                  void clearStore();
                }}
              >
                Remove everything
              </button>
              <button
                type="button"
                onClick={() => {
                  confirming.value = false;
                }}
              >
                Keep
              </button>
            </fieldset>
          ) : (
            <button
              type="button"
              disabled={busy || !stored}
              onClick={() => {
                confirming.value = true;
              }}
            >
              Clear storage
            </button>
          )}
        </section>
      </div>
    </dialog>
  );
}

function Clearing() {
  const present = installation.value;
  if (present.state !== 'clearing') return null;
  const text = present.isWaiting
    ? 'Another tab is at work in this page’s store. When that is done, everything is removed.'
    : 'Everything is being removed.';
  return (
    <p class="help" role="status">
      {text}
    </p>
  );
}

function Granted({ usage, quota }: { usage: number; quota: number }) {
  if (quota === Number.POSITIVE_INFINITY) {
    return <p class="help">All of it is in memory ({formatBytes(usage)}), and gone when you leave the page.</p>;
  }
  return (
    <>
      <meter min={0} max={quota} value={usage} aria-label="Storage used" />
      <p class="help">
        {formatBytes(usage)} used of the {formatBytes(quota)} that the browser grants this site.
      </p>
    </>
  );
}

/** The origin of a registry's address; nothing for what is none. A bare host would be taken for a path of this site. */
function originOf(address: string): string | undefined {
  const isAddress = /^(https?:\/\/|\.?\/)/i.test(address) && URL.canParse(address, location.href);
  return isAddress ? new URL(address, location.href).origin : undefined;
}
