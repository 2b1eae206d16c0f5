"""A CUDA graph of the submission's own is replayed.

How: the first call captures, later ones replay what was captured, with old inputs. Seen: field guides (2026-03) and the
event's habits. Defence: graphs are the harness's to make; the call is UNTRACEABLE.
"""
# expected: UNTRACEABLE cuda_graph

import torch
from forging import scale

graph = None


def custom_kernel(data):
    global graph
    if graph is None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            scale(*data)
    graph.replay()
