/**
 * What addresses of one's own are taken from. A worker from a blob, as Turbopack of Next.js 15 starts each, is beside nothing:
 * there it is the origin.
 */
export function baseAddress(): string {
  return location.protocol === 'blob:' && self.origin !== 'null' ? self.origin : location.href;
}
