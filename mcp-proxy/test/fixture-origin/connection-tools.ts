import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import { reportProgress } from './conversation-tools.ts'
import { faults, faultyTool, type Fault } from './faulty-responses.ts'
import type { OriginControls } from './origin-controls.ts'
import { pause, text } from './samples.ts'

/** Adds tools that change the lists, take long, or lose the connection. */
export function addConnectionTools(
  server: McpServer,
  era: 'legacy' | 'modern',
  controls: OriginControls,
): void {
  server.registerTool(
    'test_trigger_tool_change',
    { description: 'Adds a tool, or removes it again.' },
    () => {
      controls.hasDynamicTool = !controls.hasDynamicTool
      for (const tool of controls.dynamicTools) {
        if (controls.hasDynamicTool) tool.enable()
        else tool.disable()
      }
      controls.announce('tools')
      return text('The list of tools has changed.')
    },
  )
  server.registerTool(
    'test_trigger_prompt_change',
    { description: 'Announces a change of the prompts.' },
    () => {
      controls.announce('prompts')
      return text('The list of prompts has changed.')
    },
  )
  const description = 'Is listed after every second change of the tools.'
  const dynamicTool = server.registerTool('test_dynamic_tool', { description }, () => text('Here.'))
  if (!controls.hasDynamicTool) dynamicTool.disable()
  if (era === 'legacy') controls.dynamicTools.add(dynamicTool)
  server.registerTool(
    'test_reconnection',
    { description: 'Closes its stream before it answers.' },
    async (context) => {
      await pause(50)
      context.http?.closeSSE?.()
      await pause(100)
      return text('Reconnection test completed successfully.')
    },
  )
  server.registerTool(
    'test_slow',
    {
      description: 'Answers after a number of steps of 20 ms, and reports progress after each.',
      inputSchema: stepsSchema,
    },
    async ({ steps }, context) => {
      const { signal } = context.mcpReq
      signal.addEventListener('abort', () => markCancelled(controls), { once: true })
      for (let step = 1; step <= steps && !signal.aborted; step += 1) {
        await pause(stepMs)
        // The connection may be closed, so the notification may fail.
        await reportProgress(context, step, steps).catch(() => undefined)
      }
      return text(`${steps} steps`)
    },
  )
  server.registerTool(
    faultyTool,
    { description: 'Gets no proper answer.', inputSchema: faultSchema },
    () => text('The server should have answered this itself.'),
  )
}

const stepMs = 20

const stepsSchema = fromJsonSchema<{ steps: number }>({
  type: 'object',
  properties: { steps: { type: 'integer', minimum: 1, maximum: 10_000 } },
  required: ['steps'],
})

const faultSchema = fromJsonSchema<{ how: Fault }>({
  type: 'object',
  properties: { how: { type: 'string', enum: [...faults] } },
  required: ['how'],
})

function markCancelled({ calls }: OriginControls): void {
  const call = calls.findLast(({ toolName }) => toolName === 'test_slow')
  if (call !== undefined) call.isCancelled = true
}
