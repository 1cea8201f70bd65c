import type { Metafile } from 'esbuild'

export function buildConsole(folder: string): Promise<Metafile>
