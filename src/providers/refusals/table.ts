/** What the words or codes of a vendor say of a refusal, whatever its status. */
export type RefusalCause =
  /** The account behind the credential: it has no balance, or a limit on its spend is reached. */
  | 'account'
  /** The size of the request, in the place of a rate limit: waiting cannot help. */
  | 'size'
  /** The prompt does not fit the model. */
  | 'prompt-too-long'
  /** The vendor's content filter has refused the request, or stopped its answer. */
  | 'content-filter'

/** One way in which vendors say it. */
export interface RefusalRow {
  readonly cause: RefusalCause
  /** The only status for which the row counts; any when absent. */
  readonly status?: number
  /** The status for which the row does not count. */
  readonly exceptStatus?: number
  /** Whether the status says it, whatever the message. */
  readonly isStatusEnough?: boolean
  /**
   * Values of `code`, `type` or `innererror.code`, without regard to case; `*` is any end. The occurrence of
   * one in the message counts as a text, unless it is a number.
   */
  readonly codes?: readonly string[]
  /**
   * Parts of the message, without regard to case; `#` is any number, a space any white space, `*` up to 60
   * characters of the same sentence.
   */
  readonly texts?: readonly string[]
  /** A text with one of these words is about something else. */
  readonly vetoes?: readonly string[]
  /**
   * A text of a failure with one of these values of `code` or `type` is about something else. Their occurrence
   * in the message counts as one of `vetoes`.
   */
  readonly vetoCodes?: readonly string[]
}

/** The words with which vendors describe a limit that time lifts. Gemini gives a page named `rate-limits`. */
const rateLimitWords = ['rate limit', 'rate-limit', 'per minute']

/** The codes with which vendors describe such a limit. */
const rateLimitCodes = ['RESOURCE_EXHAUSTED', 'rate_limit_exceeded', 'rate_limit_error']

/**
 * The rows, by vendor. They count for every kind, because gateways and proxies relay the words of others.
 * Every link leads to an answer as the vendor sent it, or to the vendor's own list.
 */
export const refusalRows: readonly RefusalRow[] = [
  {
    // OpenAI: https://platform.openai.com/docs/guides/error-codes/api-errors,
    // https://github.com/BerriAI/litellm/issues/2743,
    // https://github.com/bajrangCoder/acode-plugin-chatgpt/issues/19
    cause: 'account',
    codes: [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_limit_user_error',
      'billing_not_active',
    ],
    texts: ['billing hard limit has been reached', 'account is not active'],
    vetoes: rateLimitWords,
  },
  {
    // OpenAI and Kimi say so when the balance is used up, Gemini also when a rate limit is reached, with
    // the same advice to check `your plan and billing details`. Only the code, or a page, tells them apart:
    // https://github.com/RooCodeInc/Roo-Code/issues/3883,
    // https://github.com/gke-labs/gemini-for-kubernetes-development/issues/1215
    cause: 'account',
    texts: ['exceeded your current quota', 'exceeded current quota'],
    vetoes: rateLimitWords,
    vetoCodes: rateLimitCodes,
  },
  {
    // Gemini, with status 429 and RESOURCE_EXHAUSTED: https://ai.google.dev/gemini-api/docs/billing,
    // https://github.com/dyad-sh/dyad/issues/3626
    cause: 'account',
    texts: ['prepayment credits are depleted', 'exceeded its monthly spending cap'],
    vetoes: rateLimitWords,
  },
  {
    // Claude: https://platform.claude.com/docs/en/api/errors,
    // https://github.com/anthropics/claude-code/issues/66314,
    // https://github.com/anthropics/claude-code/issues/38035
    cause: 'account',
    codes: ['billing_error'],
    texts: ['credit balance is too low', 'reached your specified api usage limits'],
    vetoes: rateLimitWords,
  },
  {
    // DeepSeek: https://api-docs.deepseek.com/quick_start/error_codes
    // MiniMax and Z.ai, in both languages: https://github.com/zai-org/GLM-5/issues/148,
    // https://github.com/continuedev/continue/issues/11823, and its code: https://docs.bigmodel.cn/cn/api/api-code
    // Venice: https://github.com/veniceai/api-docs/pull/149
    cause: 'account',
    codes: ['insufficient_balance', '1113'],
    texts: ['insufficient balance', 'insufficient account balance', '余额不足'],
    vetoes: rateLimitWords,
  },
  {
    // Kimi: https://github.com/MoonshotAI/kimi-code/pull/1857,
    // https://github.com/MoonshotAI/Kimi-K2/issues/5
    cause: 'account',
    codes: ['exceeded_current_quota_error'],
    texts: ['suspended due to insufficient balance'],
    vetoes: rateLimitWords,
  },
  {
    // DashScope: https://help.aliyun.com/zh/model-studio/error-code,
    // https://github.com/tencentmusic/supersonic/issues/1572,
    // https://github.com/RooCodeInc/Roo-Code/issues/12309
    cause: 'account',
    codes: ['Arrearage'],
    texts: ['make sure your account is in good standing', 'due to overdue account'],
    vetoes: rateLimitWords,
  },
  {
    // xAI: https://github.com/continuedev/continue/issues/10373,
    // https://github.com/tetsuo-ai/agenc-core/pull/2483
    // Fireworks, with status 412: https://github.com/pollinations/pollinations/issues/12136
    cause: 'account',
    codes: ['personal-team-blocked:spending-limit'],
    texts: [
      'used all available credits',
      'run out of credits',
      'reaching the monthly spending limit',
      'reached its monthly spending limit',
    ],
    vetoes: rateLimitWords,
  },
  {
    // OpenRouter: https://openrouter.ai/docs/api-reference/errors,
    // https://github.com/can1357/oh-my-pi/issues/9569
    cause: 'account',
    texts: ['requires more credits', 'requested up to # tokens, but can only afford #'],
    vetoes: rateLimitWords,
  },
  {
    // OpenAI and Groq. A limit that other requests have used up says `Limit #, Used #, Requested #`:
    // https://github.com/continuedev/continue/issues/11717, https://github.com/autohandai/code-cli/issues/302
    // Claude: https://github.com/anthropics/claude-code/issues/29584,
    // https://github.com/anthropics/claude-code/issues/64982
    cause: 'size',
    status: 429,
    codes: ['request_too_large', 'context_length_exceeded', 'tokens_limit_reached'],
    texts: [
      'request too large',
      'request is too large',
      'request body too large',
      'prompt is too long',
      'input is too long',
      'too large for the limit',
      'limit #, requested #',
      'must be reduced in order to run',
      'reduce your message size',
      'maximum context length',
      'required for long context requests',
    ],
  },
  {
    // OpenAI and Azure: https://github.com/microsoft/semantic-kernel/issues/5420,
    // https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/exception_mapping_utils.py
    // OpenAI, xAI: https://platform.openai.com/docs/guides/error-codes
    cause: 'content-filter',
    exceptStatus: 429,
    codes: [
      'content_filter',
      'content_policy_violation',
      'invalid_prompt',
      'ResponsibleAIPolicyViolation',
      'image_content_policy_violation',
      'moderation_blocked',
    ],
    texts: [
      'content management policy',
      'violating our usage policy',
      'content violates usage guidelines',
      'rejected as a result of our safety system',
    ],
  },
  {
    // DeepSeek: https://api-docs.deepseek.com/quick_start/error_codes
    // Kimi: https://github.com/MoonshotAI/kimi-cli
    // Claude: https://github.com/anthropics/claude-code/issues/4379
    // OpenRouter: https://openrouter.ai/docs/api-reference/errors
    cause: 'content-filter',
    exceptStatus: 429,
    texts: [
      'content exists risk',
      'it was considered high risk',
      'blocked by content filtering policy',
      'requires moderation and your input was flagged',
    ],
  },
  {
    // DashScope: https://help.aliyun.com/zh/model-studio/error-code
    cause: 'content-filter',
    exceptStatus: 429,
    codes: ['data_inspection_failed', 'DataInspectionFailed'],
    texts: ['data may contain inappropriate content'],
  },
  {
    // Z.ai: https://docs.bigmodel.cn/cn/api/api-code
    // MiniMax, input and output: https://platform.minimax.io/docs/api-reference/errorcode
    // Ark: https://www.volcengine.com/docs/82379/1299023
    cause: 'content-filter',
    exceptStatus: 429,
    codes: [
      '1301',
      '1026',
      '1027',
      'InputTextSensitiveContentDetected*',
      'OutputTextSensitiveContentDetected*',
      'InputImageSensitiveContentDetected*',
      'SensitiveContentDetected*',
    ],
  },
  {
    // OpenAI, Azure, vLLM, DeepSeek, OpenRouter: https://platform.openai.com/docs/guides/error-codes,
    // https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/exception_mapping_utils.py
    // SGLang: https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/managers/tokenizer_manager.py
    // llama.cpp: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-common.cpp
    // LM Studio: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/237
    cause: 'prompt-too-long',
    exceptStatus: 429,
    codes: [
      'context_length_exceeded',
      'exceed_context_size_error',
      'ContextWindowExceededError',
      'model_context_window_exceeded',
    ],
    texts: [
      'input tokens exceed the configured limit of #',
      'maximum context length',
      "longer than the model's context length",
      'exceed* context window',
      'exceed* context length',
      'exceed* context size',
      'exceed* context limit',
      'context window* exceeded',
      'context length* exceeded',
      'context size* exceeded',
      'greater than the context length',
    ],
    vetoes: rateLimitWords,
    vetoCodes: rateLimitCodes,
  },
  {
    // Claude and Ollama: https://github.com/anthropics/claude-code/issues/13831
    // Bedrock: https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
    // Cohere: https://docs.cohere.com/reference/errors
    // Gemini, Mistral, xAI, Groq, Cerebras, Kimi, MiniMax, Ark, GitHub, Copilot and TGI:
    // https://github.com/sst/opencode/blob/dev/packages/opencode/src/provider/error.ts
    cause: 'prompt-too-long',
    exceptStatus: 429,
    codes: ['tokens_limit_reached'],
    texts: [
      'prompt is too long',
      'input is too long',
      'too many tokens',
      'too many input tokens',
      'input token count* exceeds',
      'maximum number of tokens allowed',
      'maximum number of input tokens',
      'maximum allowed number of tokens',
      'maximum allowed number of input tokens',
      'prompt contains # tokens',
      'maximum prompt length is #',
      'maximum prompt length of #',
      'exceed* maximum prompt length',
      'reduce the length of the messages',
      'current length is # while limit is #',
      'exceeded model token limit',
      'context window exceeds limit',
      'exceed max message tokens',
      'prompt token count of # exceeds the limit of #',
      '`inputs` tokens + `max_new_tokens` must be <= #',
      '`inputs` must have less than # tokens',
    ],
    vetoes: rateLimitWords,
    vetoCodes: rateLimitCodes,
  },
  {
    // Z.ai: https://docs.bigmodel.cn/cn/api/api-code
    // DashScope: https://help.aliyun.com/zh/model-studio/error-code
    cause: 'prompt-too-long',
    exceptStatus: 429,
    codes: ['1261'],
    texts: ['prompt exceeds max length', 'range of input length should be'],
    vetoes: rateLimitWords,
    vetoCodes: rateLimitCodes,
  },
  {
    // Groq answers 413 to what exceeds the tokens of a minute too:
    // https://github.com/continuedev/continue/issues/11717
    cause: 'prompt-too-long',
    status: 413,
    isStatusEnough: true,
    vetoes: [...rateLimitWords, ' rate ', 'tokens per', 'requests per', 'batch size'],
    vetoCodes: rateLimitCodes,
  },
]
