import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { findApiKeyBySha256 } from '@tollgate/domain/api-keys/repository'
import { sha256OfSecretKey } from '@tollgate/domain/api-keys/secret-key'
import { forwardedIgnoredHeader } from '@tollgate/schemas/http/forwarded'
import type { Caller } from '../../http/plugins/authentication.ts'
import type { PageParts } from '../frame.ts'
import { demoFileSchema, type DemoFile } from './demo-file.ts'

/** The demo provider of a standalone installation. */
export type Demo = DemoFile & { readonly caller: Caller }

/**
 * Returns the demo provider if this installation has one and the browser runs on the same machine; otherwise undefined. A
 * proxy in front of the installation names another client, and a foreign page that had its name lead here names another
 * host: neither is shown a key. Neither is anyone once the key is revoked.
 */
export async function readDemo(
  pages: PageParts,
  request: FastifyRequest,
): Promise<Demo | undefined> {
  if (pages.demoFile === '' || !isOfThisMachine(request)) return undefined
  const file = await readDemoFile(pages.demoFile)
  if (file === undefined) return undefined
  const { control } = pages.publisher.database
  const key = await findApiKeyBySha256(control, sha256OfSecretKey(file.sandboxKey))
  if (key?.environment !== 'sandbox' || key.revokedAt !== null) return undefined
  return { ...file, caller: { providerId: key.providerId, environment: 'sandbox' } }
}

/** Undefined until the first start has written it. */
async function readDemoFile(path: string): Promise<DemoFile | undefined> {
  try {
    return demoFileSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** What a proxy in front of ingest leaves behind, whether or not it is a trusted one. */
const proxyHeaders = [forwardedIgnoredHeader, 'forwarded', 'via', 'x-real-ip']

function isOfThisMachine({ ip, hostname, headers }: FastifyRequest): boolean {
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false
  return isLoopbackAddress(ip) && (hostname === 'localhost' || isLoopbackAddress(hostname))
}

function isLoopbackAddress(text: string): boolean {
  const bare = text.replace(/^\[|\]$/g, '').replace(/^::ffff:/i, '')
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}
