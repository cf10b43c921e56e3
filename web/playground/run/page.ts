/** The document of the sandboxed frame. It has no origin of its own and reaches nothing of this page. */
import type { Theme } from '../theme.js';

export interface FrameContent {
  script: string;
  style: string;
  title: string;
  theme: Theme;
}

export function pageFor({ script, style, title, theme }: FrameContent): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${closed(style, 'style')}</style>
<style>:root { color-scheme: ${theme} !important; }</style>
</head>
<body>
<div id="root"></div>
<script type="module">${closed(script, 'script')}</script>
</body>
</html>`;
}

/**
 * Text that cannot end the element it stands in. In scripts these sequences occur in strings, templates and patterns
 * only, where the escapes mean the same; in style sheets likewise.
 */
function closed(text: string, element: 'script' | 'style'): string {
  const escaped = text.replace(new RegExp(`</(?=${element})`, 'gi'), '<\\/');
  return element === 'script' ? escaped.replaceAll('<!--', '\\x3C!--') : escaped;
}
