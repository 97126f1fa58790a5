import type { ServerResponse } from 'node:http'
import type { Message } from '../protocol/messages.ts'

/** Sends text that is already JSON. Does nothing if the client has disconnected. */
export function sendJson(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

export function sendMessage(response: ServerResponse, status: number, message: Message): void {
  sendJson(response, status, JSON.stringify(message))
}

/** Sends an HTTP error for a request that is not a message of MCP. */
export function sendError(response: ServerResponse, status: number, error: string): void {
  sendJson(response, status, JSON.stringify({ error }))
}

/** Answers a notification or a response with 202. */
export function sendAccepted(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(202)
  response.end()
}
