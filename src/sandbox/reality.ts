import type { DataParameters, ParameterPlace } from './request.ts';

/** Another way in which a service may fill what the specification leaves open. */
export interface Reality {
  readonly about: string;
  /** The only place where the parameters of a method count. */
  readonly parameters?: Partial<Record<string, ParameterPlace>>;
  /** Refuses a request that the sandbox would accept. */
  readonly check?: (request: OperationRequest) => void;
  /** What it answers instead. */
  readonly answer?: (answer: OperationAnswer, request: OperationRequest) => OperationAnswer;
}

export interface OperationRequest {
  readonly method: string;
  /** The last part of the path, such as `dns_templates` or `add_record`. */
  readonly operation: string;
  readonly parameters: DataParameters;
  /** Without its query. */
  readonly url: string;
}

export interface OperationAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, bytes as they are, or nothing. */
  readonly body: unknown;
}
