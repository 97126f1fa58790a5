import { isPlainObject, type JsonObject } from '@tollgate/schemas/json-object'
import { accountViewContents, accountViewResource } from '../apps/account-view.ts'
import { accountViewUri, isOwnUri } from '../apps/own-resources.ts'
import {
  errorCodes,
  errorMessage,
  methodOf,
  paramsOf,
  resultMessage,
  type Message,
  type MessageId,
} from '../protocol/messages.ts'
import { cachingOf } from './caching.ts'
import type { RelayEnd } from './relay.ts'
import type { ServedRequest } from './served-request.ts'

/**
 * Answers a request about a resource of the proxy; undefined for any other. Nothing of it reaches the origin. Clients that show no
 * views are told that there is no such resource.
 */
export function answerOwnResource(
  served: ServedRequest,
  message: Message,
  id: MessageId,
): Message | undefined {
  const { uri } = paramsOf(message)
  if (!isOwnUri(uri)) return undefined
  const isView = methodOf(message) === 'resources/read' && uri === accountViewUri
  if (!isView || !served.client.showsApps) return notFound(served, id)
  return resultMessage(id, resultOf(served, { contents: accountViewContents }))
}

/**
 * Answers for an origin without resources: clients that show views were told that there are some. Undefined where the origin has
 * answered, or something else went wrong.
 */
export function answerWithoutResources(
  served: ServedRequest,
  method: string,
  end: RelayEnd,
  id: MessageId,
): Message | undefined {
  if (!served.client.showsApps || !isUnknownMethod(end)) return undefined
  switch (method) {
    case 'resources/list':
      return resultMessage(id, resultOf(served, { resources: [accountViewResource] }))
    case 'resources/templates/list':
      return resultMessage(id, resultOf(served, { resourceTemplates: [] }))
    case 'resources/read':
      return notFound(served, id)
    default:
      return undefined
  }
}

/** The origin's list without resources that only the proxy has, and with the proxy's own at its end. */
export function withOwnResources(
  { client }: Pick<ServedRequest, 'client'>,
  result: JsonObject,
  isLastPage: boolean,
): JsonObject {
  const listed = listOf(result['resources'])
  const kept = listed.filter((each) => !isPlainObject(each) || !isOwnUri(each['uri']))
  const own = client.showsApps && isLastPage ? [accountViewResource] : []
  if (kept.length === listed.length && own.length === 0) return result
  return { ...result, resources: [...kept, ...own] }
}

export function withoutOwnTemplates(result: JsonObject): JsonObject {
  const listed = listOf(result['resourceTemplates'])
  const kept = listed.filter((each) => !isPlainObject(each) || !isOwnUri(each['uriTemplate']))
  return kept.length === listed.length ? result : { ...result, resourceTemplates: kept }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function resultOf({ parts, client }: ServedRequest, result: JsonObject): JsonObject {
  if (client.era === 'sessions') return result
  return { resultType: 'complete', ...result, ...cachingOf(parts.config) }
}

/** Of the versions with sessions. The stateless ones have no code for it but that of invalid parameters. */
const resourceNotFound = -32_002

function notFound({ client }: ServedRequest, id: MessageId): Message {
  const code = client.era === 'sessions' ? resourceNotFound : errorCodes.invalidParams
  return errorMessage(id, code, 'Resource not found.')
}

function isUnknownMethod(end: RelayEnd): boolean {
  const answer = end.kind === 'answered' ? end.received.message : undefined
  const given = end.kind === 'refused' ? end.error : answer
  const error = given?.['error']
  return isPlainObject(error) && error['code'] === errorCodes.unknownMethod
}
