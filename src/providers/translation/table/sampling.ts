import {
  carried,
  dropped,
  except,
  ignored,
  inEveryApi,
  mapped,
  type TranslationRows,
  weakened,
} from '../cell.ts'

const config = 'generationConfig'
const inference = 'inferenceConfig'

/** Output length, sampling, and the number of choices. */
export const sampling = {
  max_completion_tokens: {
    anthropic: mapped('max_tokens'),
    gemini: mapped(`${config}.maxOutputTokens`),
    bedrock: except(mapped(`${inference}.maxTokens`), { unboundedReasoning: dropped }),
    cohere: mapped('max_tokens'),
  },
  max_tokens: {
    anthropic: carried('max_tokens'),
    gemini: mapped(`${config}.maxOutputTokens`),
    bedrock: except(mapped(`${inference}.maxTokens`), { unboundedReasoning: dropped }),
    cohere: carried('max_tokens'),
  },
  temperature: {
    anthropic: except(carried('temperature'), { fixedSampling: dropped }),
    gemini: except(mapped(`${config}.temperature`), { ignoresSampling: dropped }),
    bedrock: except(mapped(`${inference}.temperature`), { fixedSampling: dropped }),
    cohere: carried('temperature'),
  },
  'temperature of 1': {
    anthropic: except(carried('temperature'), { fixedSampling: ignored }),
    gemini: except(mapped(`${config}.temperature`), { ignoresSampling: dropped }),
    bedrock: except(mapped(`${inference}.temperature`), { fixedSampling: ignored }),
    cohere: carried('temperature'),
  },
  'temperature above 1': {
    anthropic: except(weakened('1 is sent'), { fixedSampling: dropped }),
    gemini: except(mapped(`${config}.temperature`), { ignoresSampling: dropped }),
    bedrock: except(weakened('1 is sent'), { fixedSampling: dropped }),
    cohere: carried('temperature', 'the vendor answers 400'),
  },
  top_p: {
    anthropic: except(carried('top_p'), { fixedSampling: dropped }),
    gemini: except(mapped(`${config}.topP`), { ignoresSampling: dropped }),
    bedrock: except(mapped(`${inference}.topP`), { fixedSampling: dropped }),
    cohere: mapped('p', '`p`, at least 0.01'),
  },
  'top_p of 0.99 and above': {
    anthropic: except(carried('top_p'), { fixedSampling: ignored }),
    gemini: except(mapped(`${config}.topP`), { ignoresSampling: dropped }),
    bedrock: except(mapped(`${inference}.topP`), { fixedSampling: ignored }),
    cohere: mapped('p', '`p`, at most 0.99; 1 is left out'),
  },
  'top_p beside temperature': {
    anthropic: dropped,
    gemini: except(mapped(`${config}.topP`), { ignoresSampling: dropped }),
    bedrock: except(dropped, {
      fixedSampling: dropped,
      notClaude: mapped(`${inference}.topP`),
    }),
    cohere: mapped('p', '`p`, at least 0.01'),
  },
  'top_p of 0.99 and above beside temperature': {
    anthropic: ignored,
    gemini: except(mapped(`${config}.topP`), { ignoresSampling: dropped }),
    bedrock: except(ignored, {
      fixedSampling: ignored,
      notClaude: mapped(`${inference}.topP`),
    }),
    cohere: mapped('p', '`p`, at most 0.99; 1 is left out'),
  },
  top_k: {
    anthropic: except(carried('top_k'), { fixedSampling: dropped }),
    gemini: except(mapped(`${config}.topK`), { ignoresSampling: dropped }),
    bedrock: except(mapped('additionalModelRequestFields.top_k'), {
      fixedSampling: dropped,
      noTopK: dropped,
    }),
    cohere: mapped('k'),
  },
  frequency_penalty: {
    anthropic: dropped,
    gemini: except(mapped(`${config}.frequencyPenalty`), { noPenalties: dropped }),
    bedrock: dropped,
    cohere: carried('frequency_penalty'),
  },
  'frequency_penalty below 0 or above 1': {
    anthropic: dropped,
    gemini: except(mapped(`${config}.frequencyPenalty`), { noPenalties: dropped }),
    bedrock: dropped,
    cohere: dropped,
  },
  presence_penalty: {
    anthropic: dropped,
    gemini: except(mapped(`${config}.presencePenalty`), { noPenalties: dropped }),
    bedrock: dropped,
    cohere: carried('presence_penalty'),
  },
  'presence_penalty below 0 or above 1': {
    anthropic: dropped,
    gemini: except(mapped(`${config}.presencePenalty`), { noPenalties: dropped }),
    bedrock: dropped,
    cohere: dropped,
  },
  seed: {
    anthropic: dropped,
    gemini: mapped(`${config}.seed`, 'folded into 32 bits'),
    bedrock: dropped,
    cohere: carried('seed'),
  },
  'seed below 0': {
    anthropic: dropped,
    gemini: mapped(`${config}.seed`, 'folded into 32 bits'),
    bedrock: dropped,
    cohere: dropped,
  },
  stop: {
    anthropic: mapped('stop_sequences'),
    gemini: mapped(`${config}.stopSequences`),
    bedrock: except(mapped(`${inference}.stopSequences`), { noStops: dropped }),
    cohere: mapped('stop_sequences'),
  },
  'stop that is white space': {
    anthropic: dropped,
    gemini: mapped(`${config}.stopSequences`),
    bedrock: except(dropped, {
      noStops: dropped,
      notClaude: mapped(`${inference}.stopSequences`),
    }),
    cohere: mapped('stop_sequences'),
  },
  'n above 1': {
    anthropic: dropped,
    gemini: except(mapped(`${config}.candidateCount`), { oneAnswer: dropped }),
    bedrock: dropped,
    cohere: dropped,
  },
  logit_bias: inEveryApi(dropped),
  'logprobs: true': {
    anthropic: dropped,
    gemini: mapped(`${config}.responseLogprobs`),
    bedrock: dropped,
    cohere: carried('logprobs'),
  },
  top_logprobs: {
    anthropic: dropped,
    gemini: mapped(`${config}.logprobs`),
    bedrock: dropped,
    cohere: dropped,
  },
  'top_logprobs without logprobs': inEveryApi(dropped),
} as const satisfies TranslationRows
