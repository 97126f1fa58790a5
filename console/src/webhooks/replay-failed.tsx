import type { ReactElement } from 'react'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Props = { readonly endpointId: string }

/** Resends the deliveries of an endpoint whose attempts all failed. */
export function ReplayFailed({ endpointId }: Props): ReactElement {
  return (
    <Action label="Replay failed deliveries" refusal={useRefusal('webhooks')}>
      {(dialog) => <ReplayForm endpointId={endpointId} {...dialog} />}
    </Action>
  )
}

function ReplayForm({ endpointId, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const change = hooks.useMutation('post', '/v1/ui/webhook-replays', {
    onSuccess: () => {
      showChanged('The failed deliveries are being sent again.')
      close()
    },
  })
  return (
    <ActionForm
      text="Sends the events again whose attempts all failed, and that were not sent to this endpoint since. Receivers get them with new delivery ids."
      submitLabel="Replay failed deliveries"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          body: { endpointId, onlyFailed: true },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    />
  )
}
