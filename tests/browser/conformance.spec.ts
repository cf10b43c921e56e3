/** The platform's conformance suites on Chromium's files, fetch and clock; Firefox has them in its own spec. */
import { runSuite, SUITES } from './support/conformance.js';
import { expect, test } from './support/fixtures.js';

for (const suite of SUITES) {
  test(`${suite}: every property holds`, async ({ blank, fixtures }) => {
    const { report, problem } = await blank.evaluate(runSuite, [suite, fixtures.url] as const);
    expect(problem).toBeUndefined();
    expect(report).toContain('ok ');
  });
}
