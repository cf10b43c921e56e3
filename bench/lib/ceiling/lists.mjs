/**
 * How each list is resolved: documents only; with npm's lock fields, for which each version's own is asked too; and with all
 * documents kept, each of which is asked for on condition that it has changed, which none has.
 * @type {Record<string, { fields: 'fast' | 'npm', isKept?: boolean }>}
 */
export const LISTS = {
  documents: { fields: 'fast' },
  'documents and lock fields': { fields: 'npm' },
  'documents that are kept': { fields: 'npm', isKept: true },
};
