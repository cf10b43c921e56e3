/** An error as the page shows it. */
import { GantryError } from 'gantry';

export interface Failure {
  code: string;
  message: string;
  hint: string | undefined;
  package: string | undefined;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof GantryError) {
    return { code: error.code, message: error.message, hint: error.hint, package: error.package };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'PAGE_ERROR', message, hint: undefined, package: undefined };
}
