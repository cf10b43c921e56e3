/** What is in a store's files, beside what the store says of them; and ways to damage them, as storage may. */
import type { Page } from '@playwright/test';
import { inPage } from './in-page.js';

export interface Stored {
  /** As the store counts them. */
  packages: number;
  bytes: number;
  damaged: string[];
  /** In the files. */
  packBytes: number;
  headerBytes: number;
}

/** Opens the store `gantry`, asks it, and measures its packs. */
export function packsAndUsage(page: Page, registry: string): Promise<Stored> {
  return inPage(
    page,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, timeout: 20_000 });
      const { packages, bytes } = await gantry.usage();
      const { damaged } = await gantry.verify();
      await gantry.close();
      const stores = await (await navigator.storage.getDirectory()).getDirectoryHandle('gantry');
      let packBytes = 0;
      let headerBytes = 0;
      for await (const [name, handle] of (await stores.getDirectoryHandle('gantry')).entries()) {
        if (!/^pack-\d+$/.test(name)) continue;
        const { size } = await (handle as FileSystemFileHandle).getFile();
        packBytes += size;
        if (size > 0) headerBytes += 16;
      }
      return { packages, bytes, damaged, packBytes, headerBytes };
    },
    registry,
  );
}
