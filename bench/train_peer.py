"""train_peer.py: the networks of train_lessons.py in PyTorch 2, fp32 without
TF32. Parameters have the names of the lesson's tensors in `names`."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def relu(name, x):  # `name` is the lesson's; compare_pytorch.py puts another here
    return F.relu(x)


class Mlp(nn.Module):
    def __init__(self, first=16, second=15):
        super().__init__()
        self.fc1 = nn.Linear(784, first)
        self.fc2 = nn.Linear(first, second)
        self.fc3 = nn.Linear(second, 10)

    def forward(self, x):
        return self.fc3(relu("relu2", self.fc2(relu("relu1", self.fc1(x)))))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 12, 3, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 6, stride=2, padding=2)
        self.conv3 = nn.Conv2d(24, 32, 6, stride=2, padding=2)
        self.fc1 = nn.Linear(32 * 7 * 7, 200)
        self.fc2 = nn.Linear(200, 10)

    def forward(self, x):
        x = relu("relu2", self.conv2(relu("relu1", self.conv1(x))))
        x = relu("relu3", self.conv3(x))
        return self.fc2(relu("relu4", self.fc1(x.flatten(1))))


class Lstm(nn.Module):
    def __init__(self, vocab=65, hidden=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, hidden)
        self.lstm1 = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        return self.out(self.lstm1(self.emb(x))[0]).flatten(0, 1)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1 = nn.LayerNorm(dim)
        self.ln2 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.ff1 = nn.Linear(dim, 4 * dim)
        self.ff2 = nn.Linear(4 * dim, dim)
        self.heads = heads

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = [u.view(n, t, self.heads, d // self.heads).transpose(1, 2)
                   for u in self.qkv(self.ln1(x)).split(d, 2)]
        ctx = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        r = x + self.output(ctx.transpose(1, 2).reshape(n, t, d))
        return r + self.ff2(F.gelu(self.ff1(self.ln2(r)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, vocab=65, dim=384, heads=6, layers=6, length=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(length, dim)
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(layers)])
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, x):
        x = self.emb(x) + self.pos.weight[:x.shape[1]]
        return self.head(self.ln(self.blocks(x))).flatten(0, 1)


MODELS = {"cpu-mlp": Mlp, "cpu-cnn": Cnn, "cpu-cnn-large": Cnn,
          "cpu-lstm": lambda: Lstm(hidden=128),
          "cpu-gpt": lambda: Gpt(dim=128, heads=4, layers=2, length=64),
          "cpu-gpt-large": lambda: Gpt(dim=256, heads=8, layers=4, length=128),
          "mlp-b128": Mlp, "mlp-b1024": lambda: Mlp(1024, 1024),
          "cnn-b128": Cnn, "cnn-b1024": Cnn, "lstm": Lstm, "gpt": Gpt}


def random_batch(name, device="cuda"):
    from train_lessons import NETWORKS
    _, x, below, y, classes = NETWORKS[name]
    if "cnn" in name:
        x = [x[0], x[3], x[1], x[2]]  # PyTorch's own order
    data = (torch.randint(below, x, device=device) if below > 0
            else torch.randn(x, device=device))
    return data, torch.randint(classes, y, device=device).flatten()


def eager(name, device="cuda", compiled=False):
    """A training step with AdamW in its fused form; the model may be compiled."""
    x, y = random_batch(name, device)
    model = MODELS[name]().to(device)
    if compiled:
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return step


def graphed(name):
    """The whole step in one CUDA graph."""
    x, y = random_batch(name)
    model = MODELS[name]().cuda()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=torch.tensor(1e-3, device="cuda"), fused=True,
        capturable=True)

    def step():
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            optimizer.zero_grad(set_to_none=True)
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        step()

    def replay(_inputs=(x, y, model, optimizer)):  # the graph reads their memory
        graph.replay()
    return replay
