import { isPlainObject } from '@tollgate/schemas/json-object'
import { appMimeType, appsExtension } from '../apps/apps-extension.ts'
import type { ClientCapabilities } from '../gate/gate.ts'

/** Reads the client's abilities from its capabilities: those of a session's `initialize` or those of a stateless request. */
export function clientCapabilitiesOf(
  era: ClientCapabilities['era'],
  capabilities: unknown,
): ClientCapabilities {
  const { elicitation, extensions } = isPlainObject(capabilities) ? capabilities : {}
  // An empty object means that the client supports forms only.
  const opensUrls = isPlainObject(elicitation) && isPlainObject(elicitation['url'])
  const apps = isPlainObject(extensions) ? extensions[appsExtension] : undefined
  const mimeTypes = isPlainObject(apps) ? apps['mimeTypes'] : undefined
  const showsApps = Array.isArray(mimeTypes) && mimeTypes.includes(appMimeType)
  return { era, opensUrls, showsApps }
}
