/** Whether the chains of the audit hold (CO-60). */
import { Alert, Badge, Button, Modal, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useTranslation } from 'react-i18next'

import type { ResultOf } from '../../api/graphql'
import { useRead } from '../../api/useRead'
import { useOwner } from '../../app/owner'
import { useBaseName } from '../../ui/baseName'
import { Refusal } from '../../ui/Refusal'
import { Remote } from '../../ui/Remote'
import { CHOICES, VERIFY } from './documents'

type Verification = ResultOf<typeof VERIFY>['verifyAudit']
type Chain = Omit<Verification['chains'][number], 'poolId'>

export function Verify() {
  const { t } = useTranslation(['audit', 'ui'])
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {t('verify.button')}
      </Button>
      <Modal
        opened={opened}
        onClose={close}
        size="lg"
        title={t('verify.title')}
        closeButtonProps={{ 'aria-label': t('ui:close') }}
      >
        {opened && <Verified />}
      </Modal>
    </>
  )
}

function Verified() {
  const read = useRead(VERIFY, {})
  return (
    <Remote read={read} pick={(data) => data.verifyAudit}>
      {(found) => <Chains found={found} />}
    </Remote>
  )
}

function Chains({ found }: { found: Verification }) {
  const { t } = useTranslation('audit')
  const names = useBaseNames()
  const own = found.chains.filter((chain) => names.has(chain.poolId))
  const others = found.chains.filter((chain) => !names.has(chain.poolId))
  const intact = others.filter((chain) => chain.ok).length
  return (
    <Stack>
      <Alert
        role="status"
        color={found.ok ? 'green' : 'red'}
        title={found.ok ? t('verify.ok') : t('verify.broken')}
      />
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('verify.chain')}</Table.Th>
            <Table.Th>{t('verify.result')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {own.map((chain) => (
            <Row key={chain.poolId} name={names.get(chain.poolId) ?? ''} chain={chain} />
          ))}
          {others
            .filter((chain) => !chain.ok)
            .map((chain) => (
              <Row key={chain.poolId} name={t('verify.other')} chain={chain} />
            ))}
          {found.administration && <Row name={t('verify.administration')} chain={found.administration} />}
          {found.anchors && <Row name={t('verify.anchors')} chain={found.anchors} />}
        </Table.Tbody>
      </Table>
      {intact > 0 && <Text size="sm">{t('verify.others', { count: intact })}</Text>}
    </Stack>
  )
}

function Row({ name, chain }: { name: string; chain: Chain }) {
  const { t } = useTranslation('audit')
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td>
        {chain.ok ? (
          t('verify.intact', { seq: chain.headSeq })
        ) : (
          <>
            <Badge color="red">{t('verify.brokenAt', { seq: chain.brokenAtSeq ?? 0 })}</Badge>{' '}
            {chain.reason !== null && <Refusal code={null}>{chain.reason}</Refusal>}
          </>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** The names of this agent's knowledge bases, by id. */
function useBaseNames(): Map<string, string> {
  const baseName = useBaseName()
  const { data } = useRead(CHOICES, { owner: useOwner().id })
  return new Map((data?.knowledgeBases.edges ?? []).map(({ node }) => [node.id, baseName(node)]))
}
