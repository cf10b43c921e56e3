/** The bytes of a file of a random package; random-contents.js says what they are. */
export declare function contentOf(id: string, path: string, size: number): Uint8Array;
