/** Returns base64 in the standard alphabet: clients may write either one. */
export function toStandardBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/')
}
