import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'

/** A PNG of one red pixel, in base64. */
export const onePixelPng =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

/** A WAV file without samples, in base64. */
export const emptyWav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

export function text(content: string): CallToolResult {
  return { content: [textBlock(content)] }
}

export function textBlock(content: string): ContentBlock {
  return { type: 'text', text: content }
}

export function imageBlock(): ContentBlock {
  return { type: 'image', data: onePixelPng, mimeType: 'image/png' }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
