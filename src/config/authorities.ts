import { formatSystemCode } from '../core/error-fields.ts'
import type { ReadFile } from '../core/ports.ts'
import type { Finding } from './problem.ts'
import type { Config } from './schema.ts'

export interface Authorities {
  /** The text of every `ca_file`, by the provider's name. */
  readonly texts: ReadonlyMap<string, string>
  readonly findings: readonly Finding[]
}

/** Reads the `ca_file` of every provider. */
export async function readAuthorities(
  { providers }: Config,
  readFile: ReadFile,
): Promise<Authorities> {
  const texts = new Map<string, string>()
  const findings: Finding[] = []
  for (const [i, { name, ca_file: file }] of providers.entries()) {
    if (file === undefined) continue
    const path = ['providers', i, 'ca_file']
    try {
      const text = await readFile(file)
      if (!isPem(text)) findings.push({ path, message: notPem })
      texts.set(name, text)
    } catch (error) {
      findings.push({ path, message: `cannot be read${formatSystemCode(error)}` })
    }
  }
  return { texts, findings }
}

const notPem = 'must be a file of certificates in PEM format'

const block = /-----BEGIN (?:X509 )?CERTIFICATE-----([^-]*)-----END/g

function isPem(text: string): boolean {
  const blocks = [...text.matchAll(block)]
  return blocks.length > 0 && blocks.every(([, base64 = '']) => isDer(base64))
}

/** True for the base64 of a DER sequence whose length fits a certificate. */
function isDer(base64: string): boolean {
  try {
    return /^\x30[\x81-\x83]/.test(atob(base64.replace(/\s/g, '')))
  } catch {
    return false
  }
}
