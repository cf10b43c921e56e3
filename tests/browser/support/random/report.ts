/** What has happened in a random course, step by step, and what of it must not. */

export class Report {
  readonly problems: string[] = [];
  readonly steps: string[] = [];
  round = 0;

  note(text: string): void {
    this.steps.push(`${String(this.round).padStart(2)} ${text}`);
  }

  problem(text: string): void {
    this.note(`PROBLEM ${text}`);
    this.problems.push(`round ${this.round}: ${text}`);
  }
}

const LONGEST = 300;

/** A value in a line; a lock by its length alone. */
export function short(value: unknown): string {
  const shorter = (key: string, inner: unknown) =>
    key === 'lockfile' && typeof inner === 'string' ? `lock of ${inner.length}` : inner;
  const text = JSON.stringify(value, shorter) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
