import { z } from 'zod'

/**
 * What `npm start` leaves for the page at `/`, in the file that `TOLLGATE_DEMO_FILE` names: the demo provider as browsers of
 * this machine may see it. There is no live key in it.
 */
export const demoFileSchema = z.object({
  sandboxKey: z.string(),
  productRef: z.string(),
  meterRef: z.string(),
  /** Of the provider's own. */
  customer: z.object({ name: z.string(), reference: z.string() }),
  /** Where each service tells whether it is ready. */
  healthUrls: z.record(z.string(), z.url({ protocol: /^http$/ })),
})

export type DemoFile = z.infer<typeof demoFileSchema>
