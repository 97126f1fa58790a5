import type { JsonObject } from '@tollgate/schemas/json-object'
import { paywallQuestion, type GatedCall, type PaywallAnswer } from './gate.ts'

/** Error code of MCP 2025-11-25: the client must open URLs first and may then call again. */
const urlElicitationRequired = -32042

/**
 * Returns a paywall in a form that the client supports. A client that opens URLs gets a question for its user. Other clients get
 * text for the model with structured content. The link requires sign-in, so it may be shown to any person.
 */
export function paywallAnswer(call: GatedCall, gate: JsonObject): PaywallAnswer {
  const { client, callId, paywallAnswered } = call
  const { message, checkoutUrl: url } = gate as { message: string; checkoutUrl: string }
  const isAsked = client.opensUrls && url !== '' && paywallAnswered === undefined
  if (isAsked && client.era === 'sessions') {
    const elicitations = [{ mode: 'url', elicitationId: callId, url, message }]
    return { kind: 'error', code: urlElicitationRequired, message, data: { elicitations } }
  }
  if (isAsked) {
    const question = { method: 'elicitation/create', params: { mode: 'url', message, url } }
    const inputRequests = { [paywallQuestion]: question }
    return { kind: 'input_required', result: { resultType: 'input_required', inputRequests } }
  }
  const result: JsonObject = {
    ...(client.era === 'stateless' ? { resultType: 'complete' } : {}),
    content: [{ type: 'text', text: message }],
    structuredContent: gate,
    isError: false,
  }
  return { kind: 'result', result }
}
