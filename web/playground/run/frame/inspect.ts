/** Values as a console shows them: on one line where they fit, indented where they do not. */

const WIDTH = 56;

export function inspect(value: unknown, seen: readonly unknown[] = []): string {
  if (typeof value === 'string') return seen.length > 0 ? `'${value.replaceAll("'", "\\'")}'` : value;
  if (typeof value === 'function') return `[Function ${value.name || 'anonymous'}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.includes(value)) return '[Circular]';
  if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof RegExp) return String(value);
  const inside = [...seen, value];
  if (Array.isArray(value))
    return wrap(
      '[',
      value.map((item) => inspect(item, inside)),
      ']',
    );
  if (value instanceof Set)
    return wrap(
      `Set(${value.size}) {`,
      [...value].map((item) => inspect(item, inside)),
      '}',
    );
  if (value instanceof Map) {
    const entries = [...value].map(([key, item]) => `${inspect(key, inside)} => ${inspect(item, inside)}`);
    return wrap(`Map(${value.size}) {`, entries, '}');
  }
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  const prefix = name && name !== 'Object' ? `${name} {` : '{';
  return wrap(
    prefix,
    Object.entries(value).map(([key, item]) => `${label(key)}: ${inspect(item, inside)}`),
    '}',
  );
}

function label(key: string): string {
  return /^[\w$]+$/.test(key) ? key : `'${key}'`;
}

function wrap(open: string, items: string[], close: string): string {
  if (items.length === 0) return open + close;
  const line = `${open} ${items.join(', ')} ${close}`;
  if (line.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${items.map((item) => `  ${item.replaceAll('\n', '\n  ')}`).join(',\n')}\n${close}`;
}
