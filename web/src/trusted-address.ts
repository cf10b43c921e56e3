/**
 * Addresses of workers for pages that take trusted ones only, as `require-trusted-types-for 'script'` of a
 * Content-Security-Policy has it. A page that lists its policies (`trusted-types`) has to list this one.
 */
export const TRUSTED_POLICY = 'gantry';

interface Policy {
  createScriptURL(address: string): unknown;
}

interface Policies {
  readonly defaultPolicy: unknown;
  createPolicy(name: string, rules: { createScriptURL(address: string): string }): Policy;
}

/** Nothing where there is none to be had. */
let policy: Policy | undefined;
let isAsked = false;

/** The address as whatever starts a script from it takes it here. */
export function trusted(address: string): string {
  if (!isAsked) policy = askForPolicy();
  isAsked = true;
  // What takes a text takes one that is trusted, too; the declarations of browsers leave that out.
  return (policy?.createScriptURL(address) ?? address) as string;
}

/** Asked for without knowing whether it is needed: a browser tells that only by refusing, which it also reports. */
function askForPolicy(): Policy | undefined {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  // A page with a default policy decides by that itself.
  if (!trustedTypes || trustedTypes.defaultPolicy) return undefined;
  try {
    return trustedTypes.createPolicy(TRUSTED_POLICY, { createScriptURL: (address) => address });
  } catch {
    return undefined;
  }
}
