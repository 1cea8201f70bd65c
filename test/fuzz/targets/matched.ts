import assert from 'node:assert/strict'
import { countItems, type EmbedCall } from '../../../src/core/embeddings.ts'
import { readEmbed } from '../../../src/data-plane/embeddings/input.ts'
import { matchEmbed } from '../../../src/data-plane/embeddings/match.ts'
import type { CountCall } from '../../../src/data-plane/index.ts'
import { matchChat } from '../../../src/doors/chat/match.ts'
import { ParsedChat, readChat } from '../../../src/doors/chat/request.ts'
import { matchCompletion } from '../../../src/doors/completions/match.ts'
import { ParsedCompletion, readCompletion } from '../../../src/doors/completions/request.ts'
import { countTokensDoor } from '../../../src/doors/messages/count-tokens.ts'
import { matchCount, matchMessages } from '../../../src/doors/messages/match.ts'
import { ParsedMessages, readMessagesRequest } from '../../../src/doors/messages/request.ts'
import { matchResponses } from '../../../src/doors/responses/match.ts'
import { ParsedResponses, readResponses } from '../../../src/doors/responses/request.ts'
import { openAiEmbed, openAiEmbedDefaults } from '../../../src/providers/openai/embed.ts'
import { estimateItemTokens } from '../../../src/tokens/index.ts'
import { strictUtf8 } from '../../../src/wire/json/steps.ts'
import { replaceEscapedHalves } from '../../../src/wire/surrogates.ts'
import { isUtf8 } from '../../../src/wire/utf8.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openSlice } from '../../support/open-slice.ts'
import type { FuzzTarget } from '../target.ts'

/*
 * Bodies that are read without being parsed. Whatever is accepted there is accepted by the parser and the
 * schema too, with the same facts.
 */

/** The parts of JSON that break a body, or mend it. */
const syntax = ['null', '1e3', '{', '}', '[', ']', ',', ':', '"', ' ', '\\u00e9\\/\\ud83e']

interface MatchTarget<Call> {
  readonly seeds: readonly string[]
  /** The members of a request, and what they may consist of. */
  readonly words: readonly string[]
  readonly match: (bytes: Uint8Array) => Call | Promise<Call> | undefined
  readonly read: (bytes: Uint8Array) => Call | Promise<Call>
  readonly describe: (call: Call) => object
}

/** A request that is not parsed is one that the schema accepts, with the same facts. */
export function matchLikeParser<Call>(target: MatchTarget<Call>): FuzzTarget {
  const { seeds, words, match, read, describe } = target
  return {
    seeds,
    words: [...words, ...syntax],
    async check(input) {
      const matched = await match(input)
      if (matched !== undefined) assert.deepEqual(describe(matched), describe(await read(input)))
    },
  }
}

export const isNeverUtf8 = () => false

const chatWords = [
  '"model":"m"',
  '"messages":[{"role":"user","content":"Hi"}]',
  '{"role":"user","content":"Hi"},',
  '"content":null',
  '"content":[{"type":"text","text":"Hi"}]',
  '"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]',
  '"arguments":{}',
  '"image_url":"data:,"',
  '"provider_content":null',
  '"tools":[{"type":"function","function":{"name":"f","parameters":{"a":1,"a":[]}}}]',
  '"stream":true',
  '"Stream":true',
  '"ſtream":true',
  '"n":2',
  '"n":1e0',
  '"n":0',
  '"max_tokens":-1',
  '"max_tokens":9007199254740992',
  '"max_completion_tokens":1.5',
  '"stream_options":{"include_usage":true}',
  '"stream_options":[]',
  '"logprobs":true',
  '"cache_control":{"type":"ephemeral"}',
  '"cache_control":{"type":"ephemeral","ttl":"1h"}',
  '"__proto__":{"role":"user"}',
  '"mod\\u0065l":"x"',
  '"rol\\u0065":"x"',
  '\\u00e9\\ud83e\\udd14\\n\\/\\ud83e',
  'é𝄞',
  '\uFEFF',
  '\\',
  ' \r\n\t',
  '""',
  '01',
  '-0',
  '1e400',
]

const chatSeeds = [
  `{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","name":"Ana","content":[{"type":"text","text":"What is “it”?\\n\\u00e9"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"a\\":1}"}}]},{"role":"tool","tool_call_id":"c","content":"done"}],"stream":true,"stream_options":{"include_usage":true},"n":2,"max_tokens":100,"max_completion_tokens":null,"temperature":0.20,"tools":[{"type":"function","function":{"name":"f","description":"Does f.","parameters":{"type":"object","properties":{"a":{"type":"number","minimum":1.50}},"required":[]}}}]}`,
  '{ "messages" : [ { "content" : "Hi" , "role" : "user" } ] , "model" : "m" }',
]

export const chatMatch = matchLikeParser<ParsedChat>({
  seeds: chatSeeds,
  words: chatWords,
  match(bytes) {
    const matched = matchChat(bytes, isUtf8)
    return matched && new ParsedChat(matched)
  },
  read: (bytes) => readChat({ bytes, slice: openSlice(), isUtf8: isNeverUtf8 }),
  describe: describeChat,
})

function describeChat(call: ParsedChat) {
  const { bytes, layout, head, model, stream, choices, images, promptTokens, request } = call
  const { spans, close, isEmpty, values, commas } = layout
  return {
    bytes,
    spans: { model: spans.model, stream_options: spans.stream_options, tools: spans.tools },
    layout: { close, isEmpty, values, commas },
    head: JSON.stringify(head),
    model,
    stream,
    choices,
    images,
    promptTokens,
    cacheLife: call.cacheLife,
    request,
    wantsUsageChunk: call.wantsUsageChunk,
    wantsLogprobs: call.wantsLogprobs,
    hasProviderContent: call.hasProviderContent,
    isHeavy: call.isHeavy,
  }
}

const messagesWords = [
  '"model":"m",',
  '"max_tokens":10,',
  '"messages":[{"role":"user","content":"Hi"}],',
  '{"role":"user","content":"Hi"},',
  '{"type":"text","text":"Hi"},',
  '{"type":"tool_use","name":"f","input":{"a":1}},',
  '{"type":"tool_use","name":"f"},',
  '{"type":"tool_result","content":[{"type":"text","text":"é"}]},',
  '{"type":"thinking","thinking":"so","signature":"gateway-1.AA"},',
  '{"type":"redacted_thinking","data":"gateway-1.AA"},',
  '{"type":"image","source":{}},',
  '{"type":"document","source":{"type":"text","data":"Hi"}},',
  '"text":"Hi",',
  '"type":"text",',
  '"title":"T",',
  '"content":[],',
  '"system":"S",',
  '"system":null,',
  '"cache_control":{"type":"ephemeral"},',
  '"cache_control":{"type":"ephemeral","ttl":"1h"},',
  '"system":[{"type":"text","text":"S"}],',
  '"tools":[{"name":"f","description":"F","input_schema":{"a":[1,2.50,{}]}}],',
  '"strict":true,',
  '"thinking":{"type":"enabled","budget_tokens":1024},',
  '"stop_sequences":["a"],',
  '"stream":true,',
  '"input":{},',
  '"input":null,',
  '"\\u0061":1,',
  '"a":1,"a":2,',
  'gateway-1.',
]

const messagesSeeds = [
  '{"model":"m","max_tokens":100,"stream":true,"system":[{"type":"text","text":"Be “brief”.","cache_control":{"type":"ephemeral"}}],"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"f","description":"Does f.","input_schema":{"type":"object","properties":{"a":{"type":"number","minimum":1.50}}}}],"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"So","signature":"EqQB"},{"type":"redacted_thinking","data":"Eq"},{"type":"tool_use","id":"t","name":"f","input":{"a":-0.0,"é":"\\u00e9\\/"}}]},{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"done","is_error":false},{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},{"type":"search_result","title":"T","source":"s","content":null}]}]}]}',
  '{ "max_tokens" : 1 , "messages" : [ { "content" : "Hi" , "role" : "user" } ] , "model" : "m" , "system" : "S" }',
]

const messagesUrl = 'http://gateway.test/v1/messages'

function receiveMessages(bytes: Uint8Array) {
  const request = new Request(messagesUrl)
  return { bytes, request, slice: openSlice(), clock: new ManualClock(), isUtf8: isNeverUtf8 }
}

export const messagesMatch = matchLikeParser<ParsedMessages>({
  seeds: messagesSeeds,
  words: messagesWords,
  match(bytes) {
    const matched = matchMessages(bytes, isUtf8)
    return matched && new ParsedMessages({ bytes, request: new Request(messagesUrl), ...matched })
  },
  read: (bytes) => readMessagesRequest(receiveMessages(bytes)),
  describe: describeMessages,
})

export const countMatch = matchLikeParser<CountCall>({
  seeds: messagesSeeds,
  words: messagesWords,
  match(bytes) {
    if (!matchCount(bytes, isUtf8)) return undefined
    return countTokensDoor.read({ ...receiveMessages(bytes), isUtf8 })
  },
  read: (bytes) => countTokensDoor.read(receiveMessages(bytes)),
  describe: describeCount,
})

function describeCount({ model, native, promptTokens }: CountCall) {
  const { bytes, layout, stream } = native
  return { model, bytes, stream, promptTokens, spans: layout.spans.model, close: layout.close }
}

function describeMessages(call: ParsedMessages) {
  const { model, stream_options, tools } = call.size.spans
  return describeNative(call, { model, stream_options, tools })
}

/** What both doors make of a request that may pass unchanged. */
function describeNative(call: ParsedMessages | ParsedResponses, spans: object) {
  const { size, model, stream, images, promptTokens, isHeavy } = call
  const { close, isEmpty, values, commas } = size
  return {
    spans,
    layout: { close, isEmpty, values, commas },
    model,
    stream,
    images,
    promptTokens,
    cacheLife: call.cacheLife,
    isHeavy,
    output: call.estimateOutput(),
    sent: call.toNative({ refusesUnsigned: true }).bytes,
  }
}

const responsesWords = [
  '"model":"m",',
  '"input":"Hi",',
  '"input":null,',
  '"input":[{"role":"user","content":"Hi"}],',
  '{"role":"user","content":"Hi"},',
  '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi"}]},',
  '{"type":"reasoning","summary":[],"encrypted_content":"gAAA"},',
  '{"type":"reasoning","encrypted_content":"gateway-1.AA"},',
  '{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"é"}]},',
  '{"type":"reasoning","id":"r","summary":[],"content":[{"type":"reasoning_text","text":"Hm"}]},',
  '{"type":"reasoning","summary":[{"text":"Hm"}],"encrypted_content":null},',
  '"store":false,',
  '"summary":[{"text":"Hm"}],',
  '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},',
  '{"type":"function_call_output","call_id":"c","output":"é"},',
  '{"type":"input_text","text":"Hi"},',
  '{"type":"input_image","image_url":"data:,"},',
  '{"type":"input_file","file_data":"AA"},',
  '{"text":"Hi","type":"input_text"},',
  '"refusal":"No",',
  '"arguments":{"a":[1,2.50]},',
  '"arguments":null,',
  '"content":[],',
  '"content":{},',
  '"instructions":"Be brief.",',
  '"instructions":null,',
  '"tools":[{"type":"function","name":"f","parameters":{"a":1,"a":[]}}],',
  '"tools":[{"type":"web_search"}],',
  '"tools":null,',
  '"max_output_tokens":10,',
  '"max_output_tokens":0,',
  '"Max_output_tokens":1e1,',
  '"stream":true,',
  '"stream":null,',
  '"mod\\u0065l":"x",',
  'gateway-1.',
]

const responsesSeeds = [
  '{"model":"m","instructions":"Be “brief”.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"So"}],"encrypted_content":"gAAA\\/"},{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{\\"a\\":1}","status":"completed"},{"type":"function_call_output","call_id":"c","output":"done"},{"type":"custom_tool_call","call_id":"d","name":"g","input":"x"},{"type":"custom_tool_call_output","call_id":"d","output":[{"type":"input_text","text":"\\u00e9"}]},{"type":"tool_search_call","arguments":{"a":[-0.0,1e2]}},{"type":"tool_search_output","tools":[{"type":"function","name":"h"}]},{"role":"assistant","content":[{"type":"refusal","refusal":"No"}]}],"tools":[{"type":"function","name":"f","description":"Does f.","strict":true,"parameters":{"type":"object","properties":{"a":{"type":"number","minimum":1.50}}}}],"max_output_tokens":100,"stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low"}}',
  '{ "input" : "Hi" , "model" : "m" }',
]

export const responsesMatch = matchLikeParser<ParsedResponses>({
  seeds: responsesSeeds,
  words: responsesWords,
  match(bytes) {
    const matched = matchResponses(bytes, isUtf8)
    return matched && new ParsedResponses({ bytes, clock: new ManualClock(), ...matched })
  },
  read: (bytes) =>
    readResponses({ bytes, slice: openSlice(), clock: new ManualClock(), isUtf8: isNeverUtf8 }),
  describe: describeResponses,
})

function describeResponses(call: ParsedResponses) {
  const { model, input, stream_options, tools } = call.size.spans
  return describeNative(call, { model, input, stream_options, tools })
}

const completionWords = [
  '"model":"m",',
  '"prompt":"Hi",',
  '"prompt":null,',
  '"prompt":["Hi","é"],',
  '"prompt":[],',
  '"prompt":[1,2],',
  '"prompt":[[1],"Hi"],',
  '"suffix":"}",',
  '"suffix":null,',
  '"suffix":1,',
  '"stream":true,',
  '"Stream":true,',
  '"stream_options":{"include_usage":true},',
  '"stream_options":{"include_usage":1},',
  '"n":2,',
  '"n":0,',
  '"best_of":3,',
  '"best_of":1e1,',
  '"max_tokens":0,',
  '"max_tokens":-1,',
  '"max_completion_tokens":1.5,',
  '"max_output_tokens":9007199254740992,',
  '"mod\\u0065l":"x",',
]

const completionSeeds = [
  '{"model":"m","prompt":"def f():\\n\\u00e9","suffix":"return “x”","max_tokens":100,"n":2,"best_of":3,"stream":true,"stream_options":{"include_usage":true},"temperature":0.20,"stop":["\\n"],"echo":false}',
  '{ "prompt" : [ "a" , "b" ] , "max_tokens" : 0 , "max_output_tokens" : null , "model" : "m" }',
  '{"model":"m"}',
]

export const completionMatch = matchLikeParser<ParsedCompletion>({
  seeds: completionSeeds,
  words: completionWords,
  match(bytes) {
    const matched = matchCompletion(bytes, isUtf8)
    return matched && new ParsedCompletion({ bytes, ...matched })
  },
  read: (bytes) => readCompletion({ bytes, slice: openSlice(), isUtf8: isNeverUtf8 }),
  describe: describeCompletion,
})

function describeCompletion(call: ParsedCompletion) {
  const { model, stream, choices, promptTokens, cacheLife, isHeavy } = call
  const { bytes, layout } = call.toNative()
  const { spans, close, isEmpty } = layout
  return {
    bytes,
    spans: { model: spans.model, stream_options: spans.stream_options },
    layout: { close, isEmpty },
    model,
    stream,
    choices,
    promptTokens,
    cacheLife,
    isHeavy,
    output: call.estimateOutput(),
    counted: call.toCountInput('o200k_base', ''),
  }
}

const embedWords = [
  '"model":"m",',
  '"input":"Hi",',
  '"input":["Hi","é"],',
  '"input":[""],',
  '"input":[],',
  '"input":[1,2],',
  '"input":[[1],"Hi"],',
  '"input":[[{"type":"text","text":"Hi"}]],',
  '"encoding_format":"base64",',
  '"encoding_format":"int8",',
  '"encoding_format":null,',
  '"dimensions":256,',
  '"dimensions":0,',
  '"Dimensions":1e1,',
  '"input_type":"query",',
  '"input_type":{"a":1},',
  '"user":"u",',
  '"mod\\u0065l":"x",',
]

const embedSeeds = [
  '{"model":"m","input":["What is “it”?\\n","\\u00e9\\ud83e\\udd14\\/"],"encoding_format":"base64","dimensions":256,"user":"u"}',
  '{ "input" : "Hi" , "input_type" : "query" , "model" : "m" }',
]

const embedEndpoint = openAiEmbed({
  ...openAiEmbedDefaults,
  url: 'https://vendor.test',
  upstreamId: 'u',
})

export const embedMatch = matchLikeParser<EmbedCall>({
  seeds: embedSeeds,
  words: embedWords,
  match: (bytes) => matchEmbed(bytes, isUtf8),
  read: (bytes) => readEmbed(bytes, openSlice()),
  describe: describeEmbed,
})

function describeEmbed(call: EmbedCall) {
  const { input, ...rest } = call
  return {
    ...rest,
    shape: input.shape,
    items: input.items,
    count: countItems(input),
    tokens: estimateItemTokens(input),
    sent: parseWhole(embedEndpoint.buildRequest(call).body),
  }
}

/** The client's own text passes with halves of characters in it; one that the gateway writes has none. */
function parseWhole(bytes: Uint8Array): unknown {
  return JSON.parse(replaceEscapedHalves(strictUtf8.decode(bytes)))
}
