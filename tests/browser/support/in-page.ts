/** Running a test's own script in a page, with the package at hand as a site would import it. */
import type { Page } from '@playwright/test';

export type PackageModule = typeof import('../../../web/src/index.js');

/** Evaluate with the package at hand; errors come back as data. */
export function inPage<T>(
  page: Page,
  script: (gantry: PackageModule, argument: string) => Promise<T>,
  argument = '',
): Promise<T> {
  return page.evaluate(
    async ([source, value]) => {
      const module = await import(`${location.origin}/package/dist/index.js`);
      return new Function(`return (${source})`)()(module, value);
    },
    [script.toString(), argument] as const,
  );
}
