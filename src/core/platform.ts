/**
 * The instances of a class of the platform, by whatever declares it in the project: the DOM library,
 * or the types of Node, workerd, Bun or Deno. `Otherwise` where nothing does.
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
