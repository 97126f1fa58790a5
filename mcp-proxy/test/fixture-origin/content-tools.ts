import { fromJsonSchema, type CallToolResult, type McpServer } from '@modelcontextprotocol/server'
import { emptyWav, imageBlock, text, textBlock } from './samples.ts'

/** Schema that the suite compares keyword by keyword. */
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const headerSchema = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
}

const results: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: text('This is a simple text response for testing.'),
  test_image_content: { content: [imageBlock()] },
  test_audio_content: { content: [{ type: 'audio', data: emptyWav, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  },
  test_multiple_content_types: {
    content: [
      textBlock('Multiple content types test:'),
      imageBlock(),
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  },
}

/** Adds tools that return fixed content, and tools whose schemas the suite checks. */
export function addContentTools(server: McpServer): void {
  for (const [name, result] of Object.entries(results)) {
    server.registerTool(name, { description: `Returns the content of ${name}.` }, () => result)
  }
  server.registerTool('test_error_handling', { description: 'Always fails.' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    {
      description: 'Tool with JSON Schema 2020-12 features',
      inputSchema: fromJsonSchema(schema2020),
    },
    (given) => text(JSON.stringify(given)),
  )
  server.registerTool(
    'test_custom_header',
    {
      description: 'Mirrors an argument in a header.',
      inputSchema: fromJsonSchema<{ region?: string }>(headerSchema),
    },
    ({ region }) => text(`Region: ${region ?? 'none'}`),
  )
  server.registerTool(
    'test_structured_content',
    {
      description: 'Returns structured content of the declared schema.',
      inputSchema: fromJsonSchema<{ city: string }>({
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
      }),
      outputSchema: fromJsonSchema({
        type: 'object',
        properties: { city: { type: 'string' }, degrees: { type: 'number' } },
        required: ['city', 'degrees'],
        additionalProperties: false,
      }),
    },
    ({ city }) => {
      const structuredContent = { city, degrees: 21.5 }
      return { ...text(JSON.stringify(structuredContent)), structuredContent }
    },
  )
}
