/** Numbers of open files. No two are alike in one page or worker, so that none is taken for another one's. */

/** As Node: 0 to 2 are taken everywhere. */
let next = 3;

export function nextDescriptor(): number {
  return next++;
}
