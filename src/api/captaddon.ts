// CAPTAddon: an add-on for selected clusters.
import { exactlyOne, labelSelector, namespaceName, objectName, qualifiedKey, statusBasics } from './fields.ts'
import { age, groups, kind, type ObjectOf } from './kind.ts'
import { integer, list, listBy, object, set, text } from './schema.ts'

const label = () =>
  object({
    key: qualifiedKey('write a label key such as fluxcd.io/enabled').describe('Key of the label.'),
    value: text({ max: 63 }).default('true').describe('Value of the label.'),
  })

const apiVersion = () => text({ min: 1, max: 317 }).describe('Its apiVersion, for example apps/v1.')
const kindName = () => text({ min: 1, max: 63 }).describe('Its kind, for example Deployment.')

const manifest = () =>
  object(
    {
      name: objectName(63).describe('Name of this part of the add-on.'),
      inline: text({ min: 1, max: 262_144 })
        .optional()
        .describe(
          'The objects, as YAML. Where a variable stands in braces behind a dollar sign, its value is filled in; behind two dollar signs it is left as it is.',
        ),
      configMap: object({
        namespace: namespaceName().describe('Its namespace.'),
        name: objectName().describe('Its name.'),
        key: text({ min: 1, max: 253 }).describe('Key in it.'),
      })
        .optional()
        .describe('A ConfigMap that holds the objects.'),
    },
    [exactlyOne(['inline', 'configMap'], 'a manifest is exactly one of inline and configMap')],
  )

const variable = () =>
  object(
    {
      name: text({
        min: 1,
        max: 128,
        matches: { pattern: '^[A-Z][A-Z0-9_]*$', message: 'write a variable in capitals, such as CLUSTER_NAME' },
      }).describe('Name of the variable, as the manifests have it.'),
      output: text({ min: 1, max: 253 })
        .optional()
        .describe('Path of an output of the control plane, for example karpenter.queue_name.'),
      clusterField: text({ min: 1, max: 253 })
        .optional()
        .describe('Path of a field of the Cluster, for example metadata.name.'),
      value: text({ max: 4096 }).optional().describe('A constant.'),
    },
    [
      exactlyOne(
        ['output', 'clusterField', 'value'],
        'a variable comes from exactly one of output, clusterField and value',
      ),
    ],
  )

const versions = () => list(text({ max: 256 }).describe('A range such as >=1.33 <1.37.'), { max: 16 })

export const CAPTAddon = kind({
  group: groups.infrastructure,
  kind: 'CAPTAddon',
  plural: 'captaddons',
  isClusterScoped: true,
  description:
    'An add-on for selected clusters: its manifests, where its variables come from, what must come before it, and when it counts as ready.',
  spec: () =>
    object({
      version: text({ min: 1, max: 64 }).optional().describe('Version of the add-on, for example 1.14.0.'),
      namespaceSelector: labelSelector().optional().describe('Namespaces whose Clusters get it. Omitted: all.'),
      clusterSelector: labelSelector().describe('Clusters that get it.'),
      after: set(objectName(63), { max: 16 })
        .optional()
        .describe('Add-ons that must be ready on a cluster before this one starts there.'),
      enabledLabel: label().optional().describe('Label that is put on the Cluster when the add-on may start.'),
      manifests: listBy(['name'], manifest(), { max: 16, min: 1 }).describe('What is applied to the cluster.'),
      variables: listBy(['name'], variable(), { max: 64 })
        .optional()
        .describe('Variables of the manifests. A missing one is named, and holds the add-on back.'),
      ready: list(
        object({
          apiVersion: apiVersion(),
          kind: kindName(),
          namespace: namespaceName().optional().describe('Its namespace.'),
          name: objectName().describe('Its name.'),
          condition: text({ min: 1, max: 316 })
            .optional()
            .describe('Condition that must be True. Omitted: being there is enough.'),
        }),
        { max: 32 },
      )
        .optional()
        .describe('What must be seen in the cluster before the add-on counts as ready.'),
      compatibility: list(
        object({
          kubernetes: versions().optional().describe('Kubernetes versions.'),
          addons: listBy(
            ['name'],
            object({
              name: objectName(63).describe('Name of the other add-on.'),
              versions: versions().describe('Versions of it.'),
            }),
            { max: 16 },
          )
            .optional()
            .describe('Versions of other add-ons.'),
        }),
        { max: 32 },
      )
        .optional()
        .describe('With which versions the add-on works; one row must fit. Omitted: with all.'),
      beforeClusterDelete: object({
        objects: list(
          object({
            apiVersion: apiVersion(),
            kind: kindName(),
            namespace: namespaceName().optional().describe('Only those in this namespace.'),
          }),
          { max: 16, min: 1 },
        ).describe('Kinds of objects to delete in the cluster, and to wait for, in this order.'),
        timeoutSeconds: integer({ min: 1, max: 86_400 })
          .default(1800)
          .describe('Seconds after which a condition says that it takes too long.'),
      })
        .optional()
        .describe('What must go before the cluster goes, because AWS resources hang on it.'),
    }).describe('The add-on.'),
  status: () =>
    object({
      ...statusBasics(),
      clusters: integer({ min: 0, max: 1_000_000 }).optional().describe('On how many clusters it should be.'),
      ready: integer({ min: 0, max: 1_000_000 }).optional().describe('On how many it is ready.'),
      worst: list(
        object({
          namespace: text({ max: 63 }).describe('Namespace of the Cluster.'),
          cluster: text({ max: 253 }).describe('Name of the Cluster.'),
          reason: text({ max: 1024 }).describe('Why it is not ready there.'),
        }),
        { max: 20 },
      )
        .optional()
        .describe('Where it is not ready: the worst 20.'),
    })
      .optional()
      .describe('On how many clusters it is ready.'),
  words: { Ready: { Ready: 'True', NotReady: 'False', InvalidManifests: 'False' } },
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.version', description: 'Version of the add-on.' },
    {
      name: 'Clusters',
      type: 'integer',
      jsonPath: '.status.clusters',
      description: 'On how many clusters it should be.',
    },
    { name: 'Ready', type: 'integer', jsonPath: '.status.ready', description: 'On how many it is ready.' },
    age,
  ],
  readBy: 'addons',
})
export type CAPTAddon = ObjectOf<typeof CAPTAddon>
