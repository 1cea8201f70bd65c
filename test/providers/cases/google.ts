import type { ChatContractCase, ScriptedAnswer, StreamScript } from '../contract-case.ts'

export const google: ChatContractCase = {
  kind: 'google',
  upstreamId: 'gemini-2.5-flash',
  remoteImages: false,
  reasoning: true,
  jsonSchema: true,
  dropped: { field: 'logit_bias', value: { 50256: -100 } },
  script: {
    answer: (said) => ({
      ...response(toParts(said), { finishReason: finishReasons[said.finish] }),
      ...toUsage(said),
    }),
    events,
    error: (code, message) => ({ error: { code, message, status: statuses[code] ?? 'UNKNOWN' } }),
    streamError: (message) => event({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  },
}

const finishReasons = { stop: 'STOP', length: 'MAX_TOKENS', tool_calls: 'STOP' } as const

const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** One event in the service's format. */
function event(payload: object): string {
  return `data: ${JSON.stringify(payload)}\r\n\r\n`
}

function response(parts: readonly object[], candidate: object = {}): object {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...candidate }],
    modelVersion: 'gemini-2.5-flash',
    responseId: 'r-1',
  }
}

function toParts({ text, reasoning, calls = [] }: ScriptedAnswer): object[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text ?? []).map((piece) => ({ text: piece })),
    ...calls.map(({ id, name, arguments: args }) => ({
      // An object without members is left out by the service.
      functionCall: { id, name, ...(Object.keys(args).length > 0 && { args }) },
    })),
  ]
}

function toUsage({ usage }: ScriptedAnswer): object {
  return usage === undefined
    ? {}
    : {
        usageMetadata: {
          promptTokenCount: usage.prompt,
          candidatesTokenCount: usage.completion,
          totalTokenCount: usage.prompt + usage.completion,
        },
      }
}

function events(said: ScriptedAnswer): StreamScript {
  return {
    opening: [event({ ...response([{ text: '' }]), usageMetadata: { trafficType: 'ON_DEMAND' } })],
    content: toParts(said).map((part) => event(response([part]))),
    end: [
      event({
        ...response([{ text: '' }], { finishReason: finishReasons[said.finish] }),
        ...toUsage(said),
      }),
      // The service ends without a marker, as the fixtures do. Only after a proxy's `[DONE]` can
      // anything follow the end.
      'data: [DONE]\r\n\r\n',
    ],
  }
}
