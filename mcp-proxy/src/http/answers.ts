import type { ServerResponse } from 'node:http'
import type { Message } from '../protocol/messages.ts'

/** Sends JSON that is text already. Does nothing where the client has gone. */
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

/** An error of HTTP, for what is no message of MCP. */
export function sendError(response: ServerResponse, status: number, error: string): void {
  sendJson(response, status, JSON.stringify({ error }))
}

/** Accepts a notification or a response. */
export function sendAccepted(response: ServerResponse): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(202)
  response.end()
}
