import type { ClientAbilities } from '../gate/gate.ts'
import { isObject } from '../protocol/messages.ts'

const appsExtension = 'io.modelcontextprotocol/ui'
const appMimeType = 'text/html;profile=mcp-app'

/** Reads what a client can do from its capabilities: those of a session's `initialize`, or those of a stateless request. */
export function abilitiesOf(era: ClientAbilities['era'], capabilities: unknown): ClientAbilities {
  const { elicitation, extensions } = isObject(capabilities) ? capabilities : {}
  // An empty object means forms alone.
  const opensUrls = isObject(elicitation) && isObject(elicitation['url'])
  const apps = isObject(extensions) ? extensions[appsExtension] : undefined
  const mimeTypes = isObject(apps) ? apps['mimeTypes'] : undefined
  const showsApps = Array.isArray(mimeTypes) && mimeTypes.includes(appMimeType)
  return { era, opensUrls, showsApps }
}
