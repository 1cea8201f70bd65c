/*
 * The members of requests that the gateway reads, in camel case. Clients write them in either spelling.
 */

/** The members of an object that the gateway reads. */
export interface Members {
  readonly [name: string]: Member
}

/** The shape of a value, or of the items of a list; `null` for any value. */
export type Member = Members | null | readonly [Members | null]

const blob: Members = { mimeType: null, data: null, displayName: null }
const fileData: Members = { fileUri: null, mimeType: null, displayName: null }

export const partMembers: Members = {
  text: null,
  thought: null,
  thoughtSignature: null,
  inlineData: blob,
  fileData,
  videoMetadata: null,
  functionCall: { id: null, name: null, args: null },
  functionResponse: {
    id: null,
    name: null,
    response: null,
    parts: [{ inlineData: blob, fileData }],
  },
  executableCode: null,
  codeExecutionResult: null,
  toolCall: null,
  toolResponse: null,
}

export const contentMembers: Members = { role: null, parts: [partMembers] }

const generationConfigMembers: Members = {
  candidateCount: null,
  stopSequences: [null],
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  responseLogprobs: null,
  logprobs: null,
  responseMimeType: null,
  responseSchema: null,
  responseJsonSchema: null,
  _responseJsonSchema: null,
  responseFormat: [{ text: { mimeType: null, schema: null } }],
  responseModalities: [null],
  thinkingConfig: { includeThoughts: null, thinkingBudget: null, thinkingLevel: null },
  speechConfig: null,
  mediaResolution: null,
  imageConfig: null,
  audioTimestamp: null,
  enableEnhancedCivicAnswers: null,
}

export const declarationMembers: Members = {
  name: null,
  description: null,
  parameters: null,
  parametersJsonSchema: null,
  response: null,
  responseJsonSchema: null,
  behavior: null,
}

export const toolMembers: Members = {
  functionDeclarations: [declarationMembers],
  googleSearch: null,
  googleSearchRetrieval: null,
  codeExecution: null,
  urlContext: null,
  computerUse: null,
  fileSearch: null,
  googleMaps: null,
}

const requestMembers: Members = {
  model: null,
  contents: [contentMembers],
  systemInstruction: contentMembers,
  tools: [toolMembers],
  toolConfig: {
    functionCallingConfig: { mode: null, allowedFunctionNames: [null] },
    includeServerSideToolInvocations: null,
    retrievalConfig: null,
  },
  generationConfig: generationConfigMembers,
  safetySettings: null,
  cachedContent: null,
  serviceTier: null,
  store: null,
  labels: null,
}

export const countMembers: Members = { ...requestMembers, generateContentRequest: requestMembers }

const embedSettings: Members = {
  taskType: null,
  title: null,
  outputDimensionality: null,
}

const embedItem: Members = {
  model: null,
  content: contentMembers,
  ...embedSettings,
  embedContentConfig: embedSettings,
}

export const embedMembers: Members = { ...embedItem, requests: [embedItem] }
