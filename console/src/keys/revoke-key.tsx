import type { ReactElement } from 'react'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Props = { readonly keyId: string; readonly name: string }

export function RevokeKey(props: Props): ReactElement {
  return (
    <Action label="Revoke" title="Revoke the key" refusal={useRefusal('manage')}>
      {(dialog) => <RevokeForm {...props} {...dialog} />}
    </Action>
  )
}

function RevokeForm({ keyId, name, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const change = hooks.useMutation('delete', '/v1/ui/api-keys/{keyId}', {
    onSuccess: () => {
      showChanged(`The key ${name} is revoked.`)
      close()
    },
  })
  return (
    <ActionForm
      text={`Requests with the key ${name} are refused at once. This cannot be undone. Give the program another key first.`}
      submitLabel="Revoke the key"
      isDangerous
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({ params: { path: { keyId } } })
      }}
    />
  )
}
