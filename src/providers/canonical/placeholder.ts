/**
 * The text of a user turn that a vendor requires where the client has none: where a conversation has only
 * instructions or empty texts, or begins with the assistant.
 */
export const placeholderText = '.'
