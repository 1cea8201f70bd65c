import { readAddress } from '../../../src/doors/gemini/address.ts'
import { matchGemini } from '../../../src/doors/gemini/match.ts'
import { ParsedGemini, readGemini } from '../../../src/doors/gemini/request.ts'
import { encodeSignature } from '../../../src/doors/gemini/signatures.ts'
import { isUtf8 } from '../../../src/wire/utf8.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openSlice } from '../../support/open-slice.ts'
import type { FuzzTarget } from '../target.ts'
import { isNeverUtf8, matchLikeParser } from './matched.ts'

/** A signature of the gateway. */
export const ownSignature =
  encodeSignature({ model: 'm', message: { google: { thought_signature: 'AA' } } }) ?? ''

const words = [
  '"contents":[{"role":"user","parts":[{"text":"Hi"}]}],',
  '"contents":"Hi",',
  '"contents":{"parts":[{"text":"Hi"}]},',
  '{"role":"model","parts":[{"text":"é","thought":true}]},',
  '{"text":"Hi"},',
  '"text":null,',
  '"parts":{"text":"Hi"},',
  '"thoughtSignature":"AAAA",',
  `"thoughtSignature":"${ownSignature}",`,
  '"thought_signature":"AAAA",',
  '{"functionCall":{"name":"f","args":{"a":1}}},',
  '{"functionCall":{"name":"f"}},',
  '{"function_call":{"name":"f","args":{}}},',
  '{"functionResponse":{"name":"f","response":{"output":"é"}}},',
  '{"functionResponse":{"name":"f","response":{},"parts":[]}},',
  '{"inlineData":{"mimeType":"image/png","data":"AA"}},',
  '{"inline_data":{"mime_type":"image/png","data":"AA"}},',
  '{"fileData":{"fileUri":"https://a.test/a.png","mimeType":"image/png"}},',
  '"videoMetadata":{},"video_metadata":{},',
  '{"executableCode":{"code":"1"}},',
  '"systemInstruction":{"parts":[{"text":"S"}]},',
  '"systemInstruction":"S",',
  '"system_instruction":{"parts":[{"text":"S"}]},',
  '"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"a":[1,2.50,{}]}}]}],',
  '"tools":[{"googleSearch":{}}],',
  '"functionDeclarations":{"name":"f"},',
  '"parameters_json_schema":{},',
  '"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},',
  '"tool_config":{},',
  '"generationConfig":{"maxOutputTokens":10},',
  '"generationConfig":{"maxOutputTokens":"10","candidateCount":2},',
  '"generationConfig":null,',
  '"generation_config":{},',
  '"maxOutputTokens":1,"maxOutputTokens":2,',
  '"max_output_tokens":1,',
  '"candidateCount":0,',
  '"MaxOutputTokens":1,',
  '"topK":1,"top_k":1,',
  '"thinkingConfig":{"includeThoughts":true,"include_thoughts":false},',
  '"temperature":"0.5",',
  '"temperature":true,',
  '"safetySettings":[],"safety_settings":[],',
  '"cachedContent":"c","cached_content":"c",',
  '"serviceTier":"flex",',
  '"service_tier":"flex",',
  '"labels":{"a":"b"},',
  '"store":false,',
  '"model":"models/m",',
  '"model":"a","model":"b",',
  '"generateContentRequest":{"contents":[]},',
  '"\\u0063ontents":[],',
  '"a":1,"a":2,',
]

const seeds = [
  '{"contents":[{"role":"user","parts":[{"text":"Hi “you”"}]},{"role":"model","parts":[{"text":"So","thought":true},{"functionCall":{"id":"c","name":"f","args":{"a":-0.0,"é":"\\u00e9\\/"}},"thoughtSignature":"AAAA"}]},{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"done"}}}]}],"systemInstruction":{"role":"user","parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"f","description":"Does f.","parameters":{"type":"OBJECT","properties":{"a":{"type":"NUMBER","minimum":1.50}}}}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"temperature":0.20,"maxOutputTokens":100,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":-1}},"safetySettings":[],"labels":{"a":"b"}}',
  '{ "contents" : [ { "parts" : [ { "text" : "Hi" } ] } ] , "systemInstruction" : "S" }',
]

const url = 'http://gateway.test/v1beta/models/m:generateContent'

/** A Gemini request that is not parsed is one that the schema accepts, with the same facts. */
export const geminiMatch: FuzzTarget = matchLikeParser<ParsedGemini>({
  seeds,
  words,
  match(bytes) {
    const matched = matchGemini(bytes, isUtf8)
    return matched && new ParsedGemini({ bytes, address: readAddress(url), ...matched })
  },
  read: (bytes) => {
    const request = new Request(url)
    const received = { bytes, request, slice: openSlice(), clock: new ManualClock() }
    return readGemini({ ...received, isUtf8: isNeverUtf8 })
  },
  describe,
})

function describe(call: ParsedGemini) {
  const { size, model, stream, streamType, choices, images, promptTokens, askedTokens } = call
  const { spans, close, isEmpty, values, commas } = size as typeof size & {
    readonly close: number
    readonly isEmpty: boolean
  }
  const { bytes, foreign } = call.toNative()
  return {
    spans: {
      model: spans.model,
      stream_options: spans.stream_options,
      tools: spans.tools,
      contents: spans.contents,
      systemInstruction: spans.systemInstruction,
    },
    layout: { close, isEmpty, values, commas },
    model,
    stream,
    streamType,
    choices,
    images,
    promptTokens,
    askedTokens,
    cacheLife: call.cacheLife,
    prefix: call.prefix,
    isHeavy: call.isHeavy,
    output: call.estimateOutput(),
    bytes,
    foreign,
  }
}
