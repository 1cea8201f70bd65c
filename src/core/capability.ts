/** The operations that a model can serve. */
export const capabilities = ['chat', 'embed', 'rerank', 'decisions'] as const
export type Capability = (typeof capabilities)[number]

/** The APIs in which clients send requests, each with the capability that a model needs for it. */
export const capabilityOf = {
  chat: 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'chat',
  gemini: 'chat',
  embeddings: 'embed',
  rerank: 'rerank',
  decisions: 'decisions',
} as const satisfies Record<string, Capability>
export type Api = keyof typeof capabilityOf

// The keys of the table are its only names.
export const apis = Object.keys(capabilityOf) as readonly Api[]

/** The APIs for chat that some upstreams speak themselves, besides chat completions. */
export type NativeApi = Extract<Api, 'messages' | 'responses' | 'completions' | 'gemini'>

/** The kinds of input that a model accepts. */
export const modalities = ['text', 'image'] as const
export type Modality = (typeof modalities)[number]
