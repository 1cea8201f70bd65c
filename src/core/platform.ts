/**
 * The instance type of a platform class, as declared by the project that embeds the gateway: by the
 * DOM library, or by the types of Node, workerd, Bun or Deno. `Otherwise` when it is not declared.
 */
type Platform<Name extends string, Otherwise> =
  typeof globalThis extends Record<Name, { readonly prototype: infer Instance }>
    ? Instance
    : Otherwise

/** A `Request` of the platform. */
export type PlatformRequest = Platform<'Request', { readonly url: string; readonly method: string }>

/** A `Response` of the platform. */
export type PlatformResponse = Platform<
  'Response',
  { readonly status: number; text(): Promise<string>; json(): Promise<unknown> }
>

/** A `URL` of the platform. */
export type PlatformUrl = Platform<'URL', { readonly href: string }>
