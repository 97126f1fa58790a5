import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  ResourceTemplate,
  type GetPromptResult,
  type McpServer,
} from '@modelcontextprotocol/server'
import { askFor } from './input-required-tools.ts'
import { onePixelPng } from './samples.ts'

export function addResources(server: McpServer): void {
  server.registerResource(
    'static-text',
    'test://static-text',
    { description: 'A static text.', mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'text/plain',
          text: 'This is the content of the static text resource.',
        },
      ],
    }),
  )
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'A static image.', mimeType: 'image/png' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'image/png', blob: onePixelPng }] }),
  )
  server.registerResource(
    'watched-resource',
    'test://watched-resource',
    { description: 'A resource to subscribe to.', mimeType: 'text/plain' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched.' }] }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Data by id.', mimeType: 'application/json' },
    ({ href }, { id }) => ({
      contents: [
        {
          uri: href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  )
}

export function addPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments.' }, () =>
    promptMessage('This is a simple prompt for testing.'),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with two arguments.',
      argsSchema: stringsSchema<'arg1' | 'arg2'>('arg1', 'arg2'),
    },
    ({ arg1, arg2 }) => promptMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A prompt with a resource.',
      argsSchema: stringsSchema<'resourceUri'>('resourceUri'),
    },
    ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: {
              uri: resourceUri,
              mimeType: 'text/plain',
              text: 'Embedded resource content for testing.',
            },
          },
        },
        ...promptMessage('Please process the embedded resource above.').messages,
      ],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_image',
    { description: 'A prompt with an image.' },
    () => ({
      messages: [
        { role: 'user', content: { type: 'image', data: onePixelPng, mimeType: 'image/png' } },
        ...promptMessage('Please analyze the image above.').messages,
      ],
    }),
  )
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'A prompt that asks for its context.' },
    ({ mcpReq }) => {
      const answer = acceptedContent<{ context: string }>(mcpReq.inputResponses, 'user_context')
      if (answer !== undefined) return promptMessage(`Context: ${answer.context}`)
      const question = askFor('What context should the prompt use?', 'context', 'string')
      return inputRequired({ inputRequests: { user_context: question } })
    },
  )
}

function promptMessage(content: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text: content } }] }
}

function stringsSchema<Name extends string>(...names: Name[]) {
  return fromJsonSchema<Record<Name, string>>({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  })
}
