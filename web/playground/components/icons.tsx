/** The page's icons: 16-unit outlines in the text's colour. */
import type { ComponentChildren } from 'preact';

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

/** A gantry crane with a crate on its hook. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
      <g fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M3 7h26M7 7v20M25 7v20M4 27h6M22 27h6M16 7v6" />
      </g>
      <rect class="crate" x="11.5" y="13" width="9" height="8" rx="1.2" />
    </svg>
  );
}

export const ChevronIcon = () => (
  <Icon>
    <path d="m6 3.5 4.5 4.5L6 12.5" />
  </Icon>
);
export const FileIcon = () => (
  <Icon>
    <path d="M4 1.75h5L12.5 5v9.25H4zM9 1.75V5h3.5" />
  </Icon>
);
export const FolderIcon = () => (
  <Icon>
    <path d="M1.75 3.5h4.5l1.5 1.75h6.5v7.5H1.75z" />
  </Icon>
);
export const LinkIcon = () => (
  <Icon>
    <path d="M6.5 9.5 12.5 3.5M8 3.5h4.5V8M12.5 10v2.5h-9v-9H6" />
  </Icon>
);
export const LockIcon = () => (
  <Icon>
    <path d="M3.25 7h9.5v6.75h-9.5zM5.25 7V4.75a2.75 2.75 0 0 1 5.5 0V7" />
  </Icon>
);
export const DownloadIcon = () => (
  <Icon>
    <path d="M8 2v8M4.75 7 8 10.25 11.25 7M2.5 13.5h11" />
  </Icon>
);
export const PlayIcon = () => (
  <Icon>
    <path d="M4.5 2.75v10.5L13 8z" fill="currentColor" />
  </Icon>
);
export const GearIcon = () => (
  <Icon>
    <path d="M2 4.5h6.5M12 4.5h2M2 11.5h2M7.5 11.5H14" />
    <circle cx="10.25" cy="4.5" r="1.75" />
    <circle cx="5.75" cy="11.5" r="1.75" />
  </Icon>
);
export const SunIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="2.75" />
    <path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7" />
  </Icon>
);
export const MoonIcon = () => (
  <Icon>
    <path d="M13.25 9.75A5.75 5.75 0 0 1 6.25 2.75a5.75 5.75 0 1 0 7 7z" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.5 3.25 3.25L13 4.75" />
  </Icon>
);
export const ResetIcon = () => (
  <Icon>
    <path d="M2.75 8a5.25 5.25 0 1 0 1.6-3.75M2.5 2.25v2.5H5" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
);
