import { fromJsonSchema, type McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { pause, text } from './samples.ts'

const stepMs = 50

/** Adds tools that send notifications or requests to the client before they answer. */
export function addConversationTools(server: McpServer, legacy: boolean): void {
  server.registerTool(
    'test_tool_with_logging',
    { description: 'Sends three log messages.' },
    async (context) => {
      await context.mcpReq.log('info', 'Tool execution started')
      await pause(stepMs)
      await context.mcpReq.log('info', 'Tool processing data')
      await pause(stepMs)
      await context.mcpReq.log('info', 'Tool execution completed')
      return text('Tool with logging executed successfully')
    },
  )
  server.registerTool(
    'test_logging_tool',
    { description: 'Logs only if the request asks for it.' },
    async (context) => {
      await context.mcpReq.log('info', 'Logged by request')
      return text('Logging tool executed')
    },
  )
  server.registerTool(
    'test_tool_with_progress',
    { description: 'Reports progress three times.' },
    async (context) => {
      for (const progress of [0, 50, 100]) {
        await reportProgress(context, progress, 100)
        await pause(stepMs)
      }
      return text(String(context.mcpReq._meta?.progressToken ?? 'no token'))
    },
  )
  if (legacy) addSamplingAndElicitation(server)
}

export async function reportProgress(
  { mcpReq }: ServerContext,
  progress: number,
  total: number,
): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  await mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken, progress, total },
  })
}

/** Adds tools that send requests to the client. Such requests exist only in the versions with sessions. */
function addSamplingAndElicitation(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    {
      description: "Asks the client's model.",
      inputSchema: fromJsonSchema<{ prompt: string }>({
        type: 'object',
        properties: { prompt: { type: 'string' } },
        required: ['prompt'],
      }),
    },
    async ({ prompt }, context) => {
      const { content } = await context.mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      })
      return text(`LLM response: ${JSON.stringify(content)}`)
    },
  )
  server.registerTool(
    'test_elicitation',
    {
      description: "Asks the client's user.",
      inputSchema: fromJsonSchema<{ message: string }>({
        type: 'object',
        properties: { message: { type: 'string' } },
        required: ['message'],
      }),
    },
    async ({ message }, context) => {
      const answer = await context.mcpReq.elicitInput({ message, requestedSchema: userSchema })
      return text(`User response: ${JSON.stringify(answer)}`)
    },
  )
  for (const [name, requestedSchema] of Object.entries(askedSchemas)) {
    server.registerTool(name, { description: 'Asks the user with a form.' }, async (context) => {
      const message = 'Please check these values'
      const { action, content } = await context.mcpReq.elicitInput({ message, requestedSchema })
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)
    })
  }
}

type AskedSchema = Extract<
  Parameters<ServerContext['mcpReq']['elicitInput']>[0],
  { requestedSchema: unknown }
>['requestedSchema']

const userSchema: AskedSchema = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
}

const titled = (titles: readonly string[]) =>
  titles.map((title, index) => ({ const: `value${index + 1}`, title }))

const askedSchemas: Readonly<Record<string, AskedSchema>> = {
  test_elicitation_sep1034_defaults: {
    type: 'object',
    properties: {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    },
  },
  test_elicitation_sep1330_enums: {
    type: 'object',
    properties: {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: {
        type: 'string',
        oneOf: titled(['First Option', 'Second Option', 'Third Option']),
      },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: {
        type: 'array',
        items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      },
      titledMulti: {
        type: 'array',
        items: { anyOf: titled(['First Choice', 'Second Choice', 'Third Choice']) },
      },
    },
  },
}
