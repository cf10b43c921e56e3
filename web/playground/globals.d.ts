/** Set by the Vite configuration: where packages come from unless the settings say otherwise. */
declare const __DEFAULT_REGISTRY__: string;
