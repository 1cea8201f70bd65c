/** What a model can do. */
export const capabilities = ['chat', 'embed', 'rerank'] as const
export type Capability = (typeof capabilities)[number]

/** What a model can read. */
export const modalities = ['text', 'image'] as const
export type Modality = (typeof modalities)[number]
