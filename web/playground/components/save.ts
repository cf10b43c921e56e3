/** Hand a text to the browser's downloads. */
export function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has taken its own reference by the next task.
  setTimeout(() => URL.revokeObjectURL(url));
}
