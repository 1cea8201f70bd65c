/** The operations that a model can serve. */
export const capabilities = ['chat', 'embed', 'rerank'] as const
export type Capability = (typeof capabilities)[number]

/** The kinds of input that a model accepts. */
export const modalities = ['text', 'image'] as const
export type Modality = (typeof modalities)[number]
