// A kind as a CustomResourceDefinition: zod's OpenAPI, brought into the form that the API server calls structural.
import * as z from 'zod'
import { contractLabel, moveLabel, providerLabel } from '../../src/api/contract.ts'
import { type Kind, version } from '../../src/api/kind.ts'
import { longestName } from '../../src/api/name.ts'
import { providerName, providerOf } from '../../src/api/provider.ts'

export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly [keyword: string]: unknown
}

export interface CRD {
  readonly apiVersion: string
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: object
}

export interface CRDParts {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly categories: readonly string[]
  readonly scope: 'Cluster' | 'Namespaced'
  readonly version: string
  readonly labels: Readonly<Record<string, string>>
  readonly schema: Schema
  readonly subresources?: object
  readonly columns?: readonly object[]
}

// A CRD of one version, served and stored.
export function crd(parts: CRDParts): CRD {
  const { group, kind, plural, shortNames = [], categories, scope, version: name, labels, schema } = parts
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames.length > 0 && { shortNames }),
        categories,
      },
      versions: [
        {
          name,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(parts.subresources && { subresources: parts.subresources }),
          ...(parts.columns && { additionalPrinterColumns: parts.columns }),
        },
      ],
    },
  }
}

export function crdOf(kind: Kind): CRD {
  const { group, plural, columns, scale, shortNames = [] } = kind
  return crd({
    group,
    kind: kind.kind,
    plural,
    shortNames,
    categories: ['cluster-api', 'capt'],
    scope: kind.isClusterScoped ? 'Cluster' : 'Namespaced',
    version,
    labels: labelsOf(kind),
    schema: schemaOf(kind),
    subresources: {
      status: {},
      ...(scale && {
        scale: {
          specReplicasPath: scale.replicas,
          statusReplicasPath: scale.statusReplicas,
          labelSelectorPath: scale.selector,
        },
      }),
    },
    columns: columns.map(({ wide, ...column }) => ({ ...column, ...(wide && { priority: 1 }) })),
  })
}

function labelsOf({ group, isContract, isMoved }: Kind): Record<string, string> {
  return {
    [providerLabel]: providerName(providerOf({ group })),
    ...(isContract && { [contractLabel]: version }),
    ...(isMoved && { [moveLabel]: '' }),
  }
}

function schemaOf(kind: Kind): Schema {
  const isSpecOptional = kind.spec().safeParse(undefined).success
  return {
    description: kind.description,
    type: 'object',
    ...(!isSpecOptional && { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string', description: `${kind.group}/${version}` },
      kind: { type: 'string', description: kind.kind },
      metadata: { type: 'object' },
      spec: specOf(kind),
      status: statusOf(kind),
    },
    'x-kubernetes-validations': [
      {
        rule: `size(self.metadata.name) <= ${longestName}`,
        message: `the name has more than ${longestName} characters, and would not fit into the labels made from it: choose a shorter one`,
      },
      ...(kind.transitions ?? []).map(({ cel, message }) => ({ rule: cel, message })),
    ],
  }
}

export function specOf(kind: Kind): Schema {
  return structural(kind.spec())
}

export function statusOf(kind: Kind): Schema {
  return structural(kind.status())
}

function structural(schema: z.ZodType): Schema {
  const told = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    override: ({ jsonSchema }) => tidy(jsonSchema),
  })
  const { $schema: _, ...rest } = told as Schema & { $schema?: string }
  return rest
}

// The schemas inside a schema, by the name of their field; items of a list and values of a map have none.
export function childrenOf({ properties = {}, items, additionalProperties }: Schema): readonly [string, Schema][] {
  const unnamed = [items, additionalProperties].filter((each) => each !== undefined)
  return [...Object.entries(properties), ...unnamed.map((each): [string, Schema] => ['', each])]
}

// What the rules of a schema, and of those inside it, say when they are broken.
export function messagesIn(schema: Schema): readonly string[] {
  const own = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly message: string }[]
  return [...own.map(({ message }) => message), ...childrenOf(schema).flatMap(([, child]) => messagesIn(child))]
}

// What zod says and a structural schema must not.
function tidy(node: Record<string, unknown>): void {
  if (node['x-kubernetes-int-or-string']) {
    delete node['anyOf']
    delete node['type']
  }
  if (node['x-kubernetes-preserve-unknown-fields']) delete node['additionalProperties'] // the same, said twice
}
