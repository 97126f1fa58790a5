import { Anchor, type AnchorProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ReactElement, ReactNode, Ref } from 'react'

type Props = Omit<AnchorProps, 'size'> & {
  readonly ref?: Ref<HTMLAnchorElement>
  readonly children?: ReactNode
}

function PlainAnchor(props: Props): ReactElement {
  return <Anchor size="sm" {...props} />
}

/** Links to a page of the console. Its parameters and its query are those of the page's route. */
export const PageLink = createLink(PlainAnchor)
