/** A project that draws into #root: its errors are reported to the page around the frame. */

export function begin(): void {
  reportErrors();
}

export function reportErrors(): void {
  const report = (error: unknown) => {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    // The browser's note that a layout takes another frame; nothing is wrong.
    if (message.startsWith('ResizeObserver loop')) return;
    parent.postMessage({ gantryFrame: 'error', message }, '*');
  };
  addEventListener('error', (event) => report(event.error ?? event.message));
  addEventListener('unhandledrejection', (event) => report(event.reason));
}
